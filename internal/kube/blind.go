package kube

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// ReasonCannotObserve is why Ready is Unknown: the world could not be read for
// several passes in a row. The manager's log has the error.
const ReasonCannotObserve fsm.Reason = "CannotObserve"

// blindAfter is how many failed looks in a row are told to the user. One or two
// are noise of a restart; a status that flips with each helps nobody.
const blindAfter = 3

// streaks count what happens in a row, for each object. They are kept in memory: after a
// restart as many more must come, which takes seconds.
type streaks struct {
	mu    sync.Mutex
	count map[read.Key]int
}

func (b *streaks) add(key read.Key) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count == nil {
		b.count = map[read.Key]int{}
	}
	b.count[key]++
	return b.count[key]
}

func (b *streaks) forget(key read.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.count, key)
}

// cannotObserve ends a pass without a decision. From the third in a row on Ready
// is Unknown: neither the old True nor False has evidence any more.
func (r *Reconciler[T, W]) cannotObserve(ctx context.Context, key read.Key, in fsm.Input[T, W], cause error, report *PassReport[T]) (time.Duration, error) {
	if e, is := read.AsNotYet(cause); is {
		report.Err = cause
		return e.After, nil
	}
	seen := cause
	cause = fmt.Errorf("observe: %w", cause)
	switch blind := r.blind.add(key) >= blindAfter; {
	case blind && r.Machine.OneShot && overdue(in.Obj.GetProgress(), in.Now):
		// In an empty World nothing is known, so nothing is done; but its time is over.
		if again, err := r.decide(ctx, key, in, report); err != nil {
			return again, err
		}
		return fsm.Never, cause
	case !blind, r.Machine.OneShot:
		return fsm.Never, cause
	}
	if was := apimeta.FindStatusCondition(in.Obj.GetProgress().Conditions, fsm.Ready); was != nil && was.Reason == string(ReasonCannotObserve) {
		return fsm.Never, cause // the first failure is told: of several reads another may fail every time
	}
	message := whyBlind(seen)
	next := r.notKnown(in, ReasonCannotObserve, message)
	if err := r.Store.Save(ctx, in.Obj, next); err != nil {
		return r.notSaved(key, err)
	}
	r.Trace.blind(key, next, next.GetProgress(), message)
	return fsm.Never, cause
}

// notKnown is the object with a Ready that is Unknown, as is whatever else it said about this moment; nothing else is changed.
func (r *Reconciler[T, W]) notKnown(in fsm.Input[T, W], reason fsm.Reason, message string) T {
	next := in.Obj.DeepCopy()
	p := next.GetProgress()
	for _, kind := range append([]string{fsm.Ready}, r.Machine.Evident...) {
		if kind != fsm.Ready && apimeta.FindStatusCondition(p.Conditions, kind) == nil {
			continue
		}
		apimeta.SetStatusCondition(&p.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionUnknown, Reason: string(reason), Message: fsm.Cut(message),
			ObservedGeneration: p.ObservedGeneration,
			LastTransitionTime: metav1.NewTime(in.Now.Truncate(time.Second)),
		})
	}
	return next
}

// failedRead is how an observer wraps an error: what it could not do, to which object.
var failedRead = regexp.MustCompile(`^((?:read|list|review|ask) [^:"]+): `)

// whyBlind says which read failed, in words that do not change from try to try.
func whyBlind(err error) string {
	what := "read what it needs"
	if m := failedRead.FindStringSubmatch(err.Error()); m != nil {
		what = m[1]
	}
	todo := "its log has the error"
	if apierrors.IsForbidden(err) {
		todo = "give its account the roles that it is installed with"
	}
	return fmt.Sprintf("The manager cannot %s, so it changes nothing; %s.", what, todo)
}

// patience is how long a one-shot may be blind in a phase that has no deadline.
const patience = 10 * time.Minute

// overdue says that the object should have left its phase.
func overdue(p *meta.Progress, now time.Time) bool {
	switch {
	case p.Phase == "" || p.HeldSince != nil:
		return false
	case p.Deadline == nil:
		return now.Sub(p.Since.Time) >= patience
	}
	return !now.Before(p.Deadline.Time)
}
