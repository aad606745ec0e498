package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed"
)

// Subject is a story that is tried under faults.
type Subject struct {
	Name, Area string
	// About is the kind whose controller is tried, where Kinds does not say so: that of objects without a namespace.
	About       schema.GroupVersionKind
	AddToScheme func(*runtime.Scheme) error
	// Install makes the bed ready: kinds and roles.
	Install func(testing.TB, *bed.Bed)
	// User and Groups are who the controllers are to the API server.
	User   string
	Groups []string
	// Connect is how the controllers reach the API server, once the bed is ready; by a client certificate of
	// User and Groups, if nil. A token that is bound to a pod is such a way.
	Connect func(testing.TB, *bed.Bed) *rest.Config
	// Kinds are what the end is compared by, in the namespace of the plan; objects
	// elsewhere are compared if they were written in the story.
	Kinds []schema.GroupVersionKind
	// Own are the kinds that nobody writes but the users and controllers of the story, so
	// that a read past the cache need not ask the API server. It may be empty.
	Own []schema.GroupVersionKind
	// Open begins the story of one plan. Plans run side by side, so whatever a story
	// remembers is made here.
	Open func(*World) *Play
}

// Play is the story of one plan.
type Play struct {
	Main  Ref    // the object whose phases tell boundaries apart; a step may set another
	Steps []Step // what the user does
	// Build builds the controllers of one process. It is called again after a crash.
	Build func(*Cell)
	// Meanwhile plays those who are not there, such as a kubelet, whenever the
	// controllers have nothing to do at the moment. It says whether it changed
	// anything, and when it has something to do again. It may be nil.
	Meanwhile func(context.Context) (changed bool, next time.Time, err error)
	// Always is asked after every write of a controller. An error is a divergence:
	// what is wrong for a moment may be lost for good. It may be nil.
	Always func(Change) error
	// End says what is missing in the end state, given all that exists. It is what
	// the story is about; that faults lead to the same is checked besides.
	End func([]*unstructured.Unstructured) error
	// Others are the other ends that a fault may lead to.
	Others []Other
	// Phase is the phase of the main object; its status.phase, if nil.
	Phase func(*unstructured.Unstructured) string
	// Calm says that no fault strikes in a phase, as Phase names it: another story is about it. It may be nil.
	Calm func(phase string) bool
	// Wipe loses what the main object remembers; clears its status, if nil.
	Wipe func(context.Context) error
	// Meddle is a write by somebody else, of what the story is about, in the middle of what the controllers do. If it is
	// nil, nobody meddles.
	Meddle func(context.Context) error
	// Role names a child by the part it plays; its kind, if nil. Children are counted by it, but for those of the
	// role "": to make one once more does no harm.
	Role func(*unstructured.Unstructured) string
	// Equal takes out of an object of the end what may differ, and all of one that need not be there. It may be nil; names
	// of the plan, UIDs, times and histories are taken out of all objects.
	Equal func(*unstructured.Unstructured)
}

// Ref names an object of a kind.
type Ref struct {
	schema.GroupVersionKind
	read.Key
}

// Step is something a user does, and what comes of it.
type Step struct {
	Name string
	Do   func(context.Context) error
	// Until is nil when the controllers have answered. It looks at what was written,
	// through World.Find, and makes no call.
	Until func() error
	// Within is how soon they must have, where no fault strikes; 0 is any time.
	Within time.Duration
	// Calm says that no fault strikes in this step: another story is about it.
	Calm bool
}

// ErrOtherEnd is for Until to say that only another end can come any more: nothing is waited for.
var ErrOtherEnd = errors.New("the story can only end otherwise")

// Other is another end than that without faults.
type Other struct {
	Name   string
	Faults []Fault // that may lead to it; all if empty
	// Is says that the story came to this end.
	Is func() bool
}

// Change is one write that went through.
type Change struct {
	Ref
	Was, Is *unstructured.Unstructured // nil: it was not, or is not any more
	ByUser  bool                       // not by a controller
	call    *Call
}
