package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// AuditLog is where records are appended that outlive the cluster.
type AuditLog interface {
	// Append adds a record, unless there is one of this key: then it returns that one.
	Append(ctx context.Context, key, body string) (audit.Record, error)
	// Has says which of some keys have a record of ours.
	Has(ctx context.Context, keys []string) (map[string]bool, error)
}

// Recorder records what persons decided, and what executions ended as. An execution that has ended is not written to any more,
// so that this is done is known from the log alone; what was read there is remembered.
type Recorder struct {
	Cached read.Reader
	Log    AuditLog
	// Mine says which objects are this process's; another one may work on the rest.
	Mine func(read.Key) bool
	// Left is told how many records are missing.
	Left func(int)

	mu       sync.Mutex
	recorded map[string]bool // keys
}

// record is one that is to be there.
type record struct {
	key   string
	after string // the key of the record that an auditor expects to read before this one, if that one is still to come
	at    time.Time
	body  func() (string, error)
}

// Record appends what is missing, the oldest first. What fails is tried again at the next look, and keeps only the outcome of
// its own execution waiting: an auditor reads an intent before its outcome, unless a forged record has the intent's place.
func (r *Recorder) Record(ctx context.Context) error {
	wanted, err := r.wanted(ctx)
	if err != nil {
		return err
	}
	missing, first := r.missing(ctx, wanted)
	left := 0
	waits := map[string]bool{} // keys that the next look tries again
	for _, next := range missing {
		if waits[next.after] {
			left++
			continue
		}
		if err := r.append(ctx, next); err != nil {
			left, first = left+1, cmp.Or(first, err) // one says it: as a rule the database is away
			waits[next.key] = !errors.Is(err, audit.ErrForged)
		}
	}
	r.Left(left)
	return first
}

func (r *Recorder) append(ctx context.Context, next record) error {
	body, err := next.body()
	if err != nil {
		return err
	}
	if _, err = r.Log.Append(ctx, next.key, body); err == nil {
		r.remember(map[string]bool{next.key: true})
	}
	return err
}

// wanted are all records that are to be there by now.
func (r *Recorder) wanted(ctx context.Context) (all []record, err error) {
	var executions remediationv1.KubernetesExecutionList
	var approvals remediationv1.ExecutionApprovalList
	if err := errors.Join(r.Cached.List(ctx, &executions, read.Shared), r.Cached.List(ctx, &approvals, read.Shared)); err != nil {
		return nil, fmt.Errorf("list executions and decisions: %w", err)
	}
	for i := range approvals.Items {
		a := &approvals.Items[i]
		if r.Mine(read.Key{Namespace: a.Namespace, Name: a.Name}) {
			all = append(all, record{key: audit.DecisionKey(a), at: a.CreationTimestamp.Time, body: func() (string, error) { return audit.DecisionOf(a) }})
		}
	}
	for i := range executions.Items {
		x := &executions.Items[i]
		if execution.Ended(x) && x.Status.CompletionTimestamp != nil && r.Mine(read.Key{Namespace: x.Namespace, Name: x.Name}) {
			all = append(all, recordsOf(x)...)
		}
	}
	slices.SortStableFunc(all, func(a, b record) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.key, b.key)) })
	return all, nil
}

// recordsOf are those of an execution that has ended: its outcome, and its intent if that was not recorded before.
func recordsOf(x *remediationv1.KubernetesExecution) (all []record) {
	at := x.Status.CompletionTimestamp.Time
	if s := x.Status; s.Plan != nil && s.JobUID != "" && (s.Audit == nil || s.Audit.Seq == 0) {
		all = append(all, record{key: audit.IntentKey(x.UID), at: at, body: func() (string, error) { return audit.IntentOf(x) }})
	}
	return append(all, record{key: audit.OutcomeKey(x.UID), after: audit.IntentKey(x.UID), at: at, body: func() (string, error) { return audit.OutcomeOf(x) }})
}

// atOnce is how many keys are asked for in one question.
const atOnce = 1000

// missing are the records that are not known to be there. What is remembered of objects that are gone is dropped.
func (r *Recorder) missing(ctx context.Context, wanted []record) (missing []record, err error) {
	r.keepOnly(wanted)
	missing = slices.DeleteFunc(slices.Clone(wanted), func(w record) bool { return r.has(w.key) })
	for some := range slices.Chunk(missing, atOnce) {
		var keys []string
		for _, w := range some {
			keys = append(keys, w.key)
		}
		has, err := r.Log.Has(ctx, keys)
		if err != nil {
			return missing, err
		}
		r.remember(has)
	}
	return slices.DeleteFunc(missing, func(w record) bool { return r.has(w.key) }), nil
}

func (r *Recorder) keepOnly(wanted []record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := map[string]bool{}
	for _, w := range wanted {
		if r.recorded[w.key] {
			kept[w.key] = true
		}
	}
	r.recorded = kept
}

func (r *Recorder) remember(keys map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, is := range keys {
		if is {
			r.recorded[key] = true
		}
	}
}

func (r *Recorder) has(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recorded[key]
}

// HasOutcome says that the outcome of an execution is known to be recorded.
func (r *Recorder) HasOutcome(x *remediationv1.KubernetesExecution) bool {
	return r.has(audit.OutcomeKey(x.UID))
}

// HasDecision says that a decision is known to be recorded.
func (r *Recorder) HasDecision(a *remediationv1.ExecutionApproval) bool {
	return r.has(audit.DecisionKey(a))
}
