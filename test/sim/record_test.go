package sim

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

func version1(name string, n int) (Ref, *unstructured.Unstructured) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Thing"}}
	u.SetName(name)
	u.SetResourceVersion(fmt.Sprint(n))
	return Ref{schema.GroupVersionKind{Version: "v1", Kind: "Thing"}, read.Key{Name: name}}, u
}

func TestTheRecordKnowsEveryMoment(t *testing.T) {
	r := newRecord()
	old, was := version1("old", 1)
	r.found(old, was)
	ref, first := version1("new", 2)
	_, second := version1("new", 3)
	for _, obj := range []*unstructured.Unstructured{first, first, second, nil, nil} {
		r.add(ref, obj)
	}
	for moment, want := range []string{"", "2", "3", ""} {
		got := ""
		if obj := r.asOf(ref, moment); obj != nil {
			got = obj.GetResourceVersion()
		}
		if got != want {
			t.Errorf("after %d versions it is %q, not %q", moment, got, want)
		}
		if r.asOf(old, moment) == nil {
			t.Errorf("what was there all along is not, after %d versions", moment)
		}
	}
	if len(r.versions) != 3 || len(r.kind(ref.GroupVersionKind, 1)) != 2 || len(r.kind(ref.GroupVersionKind, 3)) != 1 {
		t.Errorf("%d versions", len(r.versions))
	}
}

func TestTheQueueKeepsTimersAndBacksOff(t *testing.T) {
	now := time.Unix(0, 0)
	a := item{key: read.Key{Name: "a"}}
	var q queue
	q.addAt(a, now.Add(time.Second))
	q.addAt(a, now.Add(time.Minute)) // does not put off the earlier one
	q.add(a)
	q.add(a)
	if len(q.ready) != 1 {
		t.Errorf("it is %d times in the queue", len(q.ready))
	}
	q.take()
	if at, waits := q.next(); !waits || !at.Equal(now.Add(time.Second)) {
		t.Errorf("the timer is at %s", at)
	}
	q.due(now.Add(time.Second))
	if _, has := q.take(); !has {
		t.Error("its time has come, and it is not ready")
	}
	for _, want := range []time.Duration{firstRetry, 2 * firstRetry, 4 * firstRetry} {
		q.later = nil
		q.done(a, now, reconcile.Result{}, errDead)
		if at, _ := q.next(); !at.Equal(now.Add(want)) {
			t.Errorf("tried again after %s, not %s", at.Sub(now), want)
		}
	}
	q.later = nil
	q.done(a, now, reconcile.Result{}, reconcile.TerminalError(errDead))
	if _, waits := q.next(); waits {
		t.Error("a terminal error is tried again")
	}
}
