// Package storetest tries what every kube.Store promises, wherever it keeps the progress.
package storetest

import (
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Kit is a kind of Store, and what is stored.
type Kit[T kube.Object[T]] struct {
	// Client reads and writes the API server without a cache.
	Client client.Client
	// New makes a Store, as every process makes its own.
	New func(cached client.Client, live client.Reader) kube.Store[T]
	// Make makes an object without progress, whose name nothing else has.
	Make func(t *testing.T, name string) read.Key
	// Keeper is the object of the API server, by its name alone, that keeps the progress of an object.
	Keeper func(key read.Key) client.Object
	// Own takes out of the keeper what is the Store's to write.
	Own func(keeper client.Object)
	// Wipe takes the progress away.
	Wipe Patch
	// Garble writes what no machine wrote. It is empty where the schema does not let it in.
	Garble []Patch
}

// Patch is a merge patch of a keeper, or of its status.
type Patch struct {
	Data   string
	Status bool
}

// Conform tries a Store.
func Conform[T kube.Object[T]](t *testing.T, kit Kit[T]) {
	for _, check := range []struct {
		claim string
		try   func(*testing.T, *trial[T])
	}{
		{"what was saved is read, by whoever asks", savedIsRead[T]},
		{"an object is never older than the last save", neverOlder[T]},
		{"what is handed out is a copy", handsOutCopies[T]},
		{"a save is one write", savesOnce[T]},
		{"a save writes nothing of others", leavesOthersAlone[T]},
		{"a save over a change conflicts", conflictsWithChanges[T]},
		{"of two writers one loses", twoWriters[T]},
		{"what is gone is not brought back", staysGone[T]},
		{"another of the same name is another", anotherOfThatName[T]},
		{"current is what the API server has", currentIsLive[T]},
		{"a wiped progress is as new", wipedIsNew[T]},
		{"what no machine wrote is as new", garbledIsNew[T]},
		{"an own write is no news", ownWritesAreNoNews[T]},
		{"an own write is no news before its answer", earlyWritesAreNoNews[T]},
	} {
		t.Run(check.claim, func(t *testing.T) {
			check.try(t, newTrial(t, kit))
		})
	}
}

// trial is one object, and a process that works on it.
type trial[T kube.Object[T]] struct {
	Kit[T]
	name  string
	key   read.Key
	spy   *spy
	store kube.Store[T]
	fresh meta.Progress // of an object that nothing is known of
}

var trials int

func newTrial[T kube.Object[T]](t *testing.T, kit Kit[T]) *trial[T] {
	t.Helper()
	trials++
	r := &trial[T]{Kit: kit, name: "object-" + strconv.Itoa(trials)}
	r.key = kit.Make(t, r.name)
	r.spy, r.store = r.process()
	r.fresh = *r.get(t, r.store).GetProgress().DeepCopy()
	return r
}

// process is another process.
func (r *trial[T]) process() (*spy, kube.Store[T]) {
	s := &spy{Client: r.Client}
	return s, r.New(s, r.Client)
}

func (r *trial[T]) get(t *testing.T, s kube.Store[T]) T {
	t.Helper()
	obj, found, err := s.Get(t.Context(), r.key)
	if err != nil || !found {
		t.Fatalf("found %t: %v", found, err)
	}
	return obj
}

// saves lets a Store save that the object is in a phase.
func (r *trial[T]) saves(t *testing.T, s kube.Store[T], was T, phase fsm.Phase) error {
	t.Helper()
	return s.Save(t.Context(), was, moved(was, phase))
}

func (r *trial[T]) mustSave(t *testing.T, s kube.Store[T], was T, phase fsm.Phase) {
	t.Helper()
	if err := r.saves(t, s, was, phase); err != nil {
		t.Fatal(err)
	}
}

// moved is an object in another phase, with a progress that has all that one can have.
func moved[T kube.Object[T]](was T, phase fsm.Phase) T {
	next := was.DeepCopy()
	at := metav1.NewTime(time.Date(2026, 5, 17, 9, 30, 15, 0, time.UTC))
	*next.GetProgress() = meta.Progress{
		Place:              meta.Place{Phase: phase, Since: at, Deadline: &at, HeldSince: &at, Failures: 2, RetryAt: &at},
		ObservedGeneration: 1, Reason: "Moved", WaitingFor: "Waiting for somebody.", MachineHash: "abc",
		Conditions: []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionFalse, Reason: "Moved", Message: "It moved.", LastTransitionTime: at}},
		History:    []meta.Transition{{To: phase, Event: "Move", Reason: "Moved", Message: "It had to.", At: at}},
	}
	return next
}

// others changes something that is not the Store's.
func (r *trial[T]) others(t *testing.T) {
	t.Helper()
	r.apply(t, Patch{Data: `{"metadata":{"labels":{"theirs":"` + r.keeper(t).GetResourceVersion() + `"}}}`})
}

func (r *trial[T]) apply(t *testing.T, p Patch) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(p.Data))
	write := func() error { return r.Client.Patch(t.Context(), r.Keeper(r.key), patch) }
	if p.Status {
		write = func() error { return r.Client.Status().Patch(t.Context(), r.Keeper(r.key), patch) }
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
}

// keeper reads the object of the API server.
func (r *trial[T]) keeper(t *testing.T) client.Object {
	t.Helper()
	k := r.Keeper(r.key)
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
		t.Fatal(err)
	}
	k.SetManagedFields(nil) // as in the cache
	return k
}

func (r *trial[T]) remove(t *testing.T) {
	t.Helper()
	if err := r.Client.Delete(t.Context(), r.Keeper(r.key), client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
}
