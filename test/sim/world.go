package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// World is where the story of one plan takes place.
type World struct {
	// Namespace is the plan's own, and a name that objects outside of it may bear.
	Namespace string
	// Client is the user's. What is written through it is told to the controllers.
	Client client.Client

	run *run
}

// Now is the plan's clock.
func (w *World) Now() time.Time { return w.run.now() }

// Find fills in obj, by its name, as it was last written, and says whether it
// exists. It makes no call.
func (w *World) Find(obj client.Object) bool {
	ref, err := w.run.refOf(obj)
	if err != nil {
		panic(err) // a kind that the subject did not register
	}
	w.run.mu.Lock()
	found := w.run.record.latest(ref)
	w.run.mu.Unlock()
	if found == nil {
		return false
	}
	if err := fill(obj, found); err != nil {
		panic(err) // what the API server answered does not fit the type
	}
	return true
}

// refOf names an object.
func (r *run) refOf(obj client.Object) (Ref, error) {
	gvk, err := apiutil.GVKForObject(obj, r.lab.scheme)
	return Ref{gvk, read.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}}, err
}

// phase is the phase of the main object, as it was last written.
func (r *run) phase() string {
	obj := r.record.latest(r.play.Main)
	if obj == nil {
		return ""
	}
	if r.play.Phase != nil {
		return r.play.Phase(obj)
	}
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	return phase
}
