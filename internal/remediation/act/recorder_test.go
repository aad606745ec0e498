package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// auditLog is one in memory.
type auditLog struct {
	keys  []string
	asked int
	down  bool
	bad   string // a key that is never recorded
	why   error  // if not just "no"
}

func (l *auditLog) Append(_ context.Context, key, _ string) (audit.Record, error) {
	if l.down || key == l.bad {
		return audit.Record{}, cmp.Or(l.why, errors.New("no"))
	}
	l.keys = append(l.keys, key)
	return audit.Record{Key: key}, nil
}

func (l *auditLog) Has(_ context.Context, keys []string) (map[string]bool, error) {
	if l.down {
		return nil, errors.New("no")
	}
	l.asked++
	has := map[string]bool{}
	for _, key := range keys {
		has[key] = slices.Contains(l.keys, key)
	}
	return has, nil
}

// recorderOf is one that sees some objects.
func recorderOf(t *testing.T, log AuditLog, objects ...client.Object) (*Recorder, *int) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := remediationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	left := -1
	return &Recorder{
		Cached: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), Log: log,
		Mine: func(read.Key) bool { return true }, Left: func(n int) { left = n },
	}, &left
}

// over is an execution that ended some minutes after the others.
func over(uid string, minutes int) *remediationv1.KubernetesExecution {
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: uid, UID: types.UID(uid)}}
	x.Status.Phase = execution.Completed
	x.Status.CompletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0).Add(time.Duration(minutes) * time.Minute)}
	x.Status.Plan, x.Status.JobUID = &remediationv1.Plan{}, "job"
	x.Status.Audit = &remediationv1.IntentRecord{Seq: 1}
	return x
}

// TestRecorder: what is recorded of which objects, and in which order.
func TestRecorder(t *testing.T) {
	running, early, late := over("x1", 0), over("x2", 2), over("x3", 3)
	running.Status.Phase = execution.RollbackReady
	late.Status.Audit = &remediationv1.IntentRecord{Message: "The database was away."}
	refused := over("x4", 1)
	refused.Status.Plan, refused.Status.JobUID, refused.Status.Audit = nil, "", nil
	yes := &remediationv1.ExecutionApproval{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "yes", UID: "a1", CreationTimestamp: metav1.Unix(1_700_000_000, 0)}}
	yes.Spec.ExecutionRef.UID = "x1"
	log := &auditLog{}
	r, left := recorderOf(t, log, running, early, late, refused, yes)
	if err := r.Record(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"x1/decision/a1", "x4/outcome/1", "x2/outcome/1", "x3/intent/1", "x3/outcome/1"}
	if diff := gocmp.Diff(want, log.keys); diff != "" || *left != 0 {
		t.Errorf("%d left, %s", *left, diff)
	}
	if r.HasOutcome(running) || !r.HasOutcome(early) {
		t.Error("what has an outcome is not what ended")
	}
	if err := r.Record(t.Context()); err != nil || len(log.keys) != len(want) || log.asked != 1 {
		t.Errorf("the second look: %v, %v, asked %d times", err, log.keys, log.asked)
	}
}

// TestRecorderAfterARestart: what another process has recorded is read, once, and not recorded again.
func TestRecorderAfterARestart(t *testing.T) {
	log := &auditLog{keys: []string{"x1/outcome/1"}}
	r, _ := recorderOf(t, log, over("x1", 0))
	if x := over("x1", 0); r.HasOutcome(x) {
		t.Error("known before anything was read")
	}
	if err := r.Record(t.Context()); err != nil || len(log.keys) != 1 || !r.HasOutcome(over("x1", 0)) {
		t.Errorf("%v, %v", err, log.keys)
	}
}

// TestRecorderGoesOn: neither a database that was away nor a record whose place was taken loses another one.
func TestRecorderGoesOn(t *testing.T) {
	log := &auditLog{down: true, bad: "x1/outcome/1"}
	r, left := recorderOf(t, log, over("x1", 0), over("x2", 1))
	for _, step := range []struct {
		down bool
		left int
	}{{true, 2}, {false, 1}, {false, 1}} {
		log.down = step.down
		if err := r.Record(t.Context()); err == nil || *left != step.left {
			t.Errorf("%v, %d left", err, *left)
		}
	}
	if fmt.Sprint(log.keys) != "[x2/outcome/1]" || r.HasOutcome(over("x1", 0)) {
		t.Errorf("%v", log.keys)
	}
}

// TestRecorderKeepsTheOrder: an outcome waits for its intent, and goes on without it only if somebody has taken its place.
func TestRecorderKeepsTheOrder(t *testing.T) {
	x := over("x1", 0)
	x.Status.Audit = nil
	for _, tt := range []struct {
		why  error
		want string
		left int
	}{
		{errors.New("no"), "[]", 2},
		{fmt.Errorf("record 1: %w", audit.ErrForged), "[x1/outcome/1]", 1},
	} {
		log := &auditLog{bad: "x1/intent/1", why: tt.why}
		r, left := recorderOf(t, log, x)
		if err := r.Record(t.Context()); err == nil || *left != tt.left || fmt.Sprint(log.keys) != tt.want {
			t.Errorf("%v: %v, %d left, recorded %v", tt.why, err, *left, log.keys)
		}
	}
}
