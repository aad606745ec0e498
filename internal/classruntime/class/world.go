package class

import (
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/podstate"
)

// World is what a class may look at.
type World struct {
	// Looked says that the world was read. Without it the rest says nothing.
	Looked bool `json:"looked,omitempty"`
	// Functions are those of the spec, sorted by key.
	Functions []Function `json:"functions,omitempty"`
	// Orphans are children of this class that no function has any more.
	Orphans []Ref `json:"orphans,omitempty"`
	Gone    bool  `json:"gone,omitempty"` // the class itself; only the model says so
}

// Function is one function, and what of it exists.
type Function struct {
	Key     string `json:"key"`
	Name    string `json:"name,omitempty"`    // of its Deployment
	Service string `json:"service,omitempty"` // "" if it has none
	Port    int32  `json:"port,omitempty"`
	// Invalid says in a sentence why the function cannot be built; it has no children then.
	Invalid  string  `json:"invalid,omitempty"`
	Floor    int32   `json:"floor,omitempty"` // the least replicas that the spec asks for
	Children []Child `json:"children,omitempty"`
	Engine   string  `json:"engine,omitempty"` // that the spec asks for
	// Engines are the autoscalers that have its Deployment as their target, whoever owns them.
	Engines []Engine `json:"engines,omitempty"`
	// Replicas is whose the number of its Deployment is; nil without one.
	Replicas *ownership.Field `json:"replicas,omitempty"`
	Rollout  Rollout          `json:"rollout,omitzero"`
	Pods     []Pod            `json:"pods,omitempty"` // of its Deployment, by their owners
	// Enforced says that its replicas are to be what is recommended.
	Enforced bool `json:"enforced,omitempty"`
	// Measured is what is required and measured of it; nil is that nothing is to be observed.
	Measured *Measured `json:"measured,omitempty"`
}

// The kinds of children.
const (
	KindDeployment = spec.KindDeployment
	KindService    = spec.KindService
	KindAutoscaler = spec.KindAutoscaler
	KindBudget     = spec.KindBudget
)

// Ref is one object that exists, in one version; without a UID it does not.
type Ref struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	UID     string `json:"uid,omitempty"`
	Version string `json:"version,omitempty"`
}

func (r Ref) String() string { return r.Kind + " " + r.Name }

// Child is an object that a function should have.
type Child struct {
	Ref
	// Current says that it is as it would be applied now: built so, and not edited since.
	Current bool `json:"current,omitempty"`
	// Foreign says that another owner has an object of this name.
	Foreign bool `json:"foreign,omitempty"`
	// Going says why what has the name of the child will be gone by itself, and who has to act before that: the child is made then.
	Going string `json:"going,omitempty"`
	// Edits are the fields that others changed since it was applied as it would be now.
	Edits []Edit `json:"edits,omitempty"`
}

// Edit is a field of a child that another changed.
type Edit struct {
	Field string `json:"field"`
	By    string `json:"by,omitempty"` // the field manager that owns it now; "" is that it was removed
}

// Engine is an autoscaler that governs a Deployment.
type Engine struct {
	Name string `json:"name"` // with its kind
	Ours bool   `json:"ours,omitempty"`
	Min  int32  `json:"min,omitempty"`
	// Blind says why it does not scale, in its own words.
	Blind string `json:"blind,omitempty"`
}

// Rollout is what the controller of a Deployment says about it.
type Rollout struct {
	Seen      bool  `json:"seen,omitempty"` // it has seen the Deployment as it is
	Desired   int32 `json:"desired,omitempty"`
	Total     int32 `json:"total,omitempty"` // pods of whatever template
	Updated   int32 `json:"updated,omitempty"`
	Ready     int32 `json:"ready,omitempty"`
	Available int32 `json:"available,omitempty"`
	// Refused says why pods cannot be created, in the words of who refuses them.
	Refused      string `json:"refused,omitempty"`
	RefusedSince int64  `json:"refusedSince,omitempty"` // in seconds; 0 is for long
	// Paused says that somebody has paused it: it replaces no pods.
	Paused bool `json:"paused,omitempty"`
	// Stuck says that it made no progress within its deadline.
	Stuck bool `json:"stuck,omitempty"`
}

// Pod is one pod of a function.
type Pod struct {
	Name    string           `json:"name"`
	Ready   bool             `json:"ready,omitempty"`
	Leaving bool             `json:"leaving,omitempty"`
	Ended   bool             `json:"ended,omitempty"` // for good: another takes its place
	Since   int64            `json:"since,omitempty"` // when it became ready, or ceased to be, or was made; in seconds
	Trouble podstate.Trouble `json:"trouble,omitzero"`
	Crash   Crash            `json:"crash,omitzero"`
}

// Crash is how the container of a pod ended that crashes, if one does.
type Crash struct {
	Container string `json:"container,omitempty"`
	Restarts  int32  `json:"restarts,omitempty"`
	Started   int64  `json:"started,omitempty"` // the last run that ended, in seconds
	Ended     int64  `json:"ended,omitempty"`
	Exit      int32  `json:"exit,omitempty"`
}

// answering is how many pods are ready and stay.
func (f Function) answering() (n int32) {
	for _, p := range f.Pods {
		if p.Ready && !p.Leaving && !p.Ended {
			n++
		}
	}
	return n
}

// lacking are the pods that should be ready and are not.
func (f Function) lacking() (pods []Pod) {
	for _, p := range f.Pods {
		if !p.Ready && !p.Leaving && !p.Ended {
			pods = append(pods, p)
		}
	}
	return pods
}

// invalid is the first function that cannot be built.
func (w World) invalid() (why string, is bool) {
	for _, f := range w.Functions {
		if f.Invalid != "" {
			return f.Invalid, true
		}
	}
	return "", false
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0) }

// some names the first of many.
func some(refs []Ref) string {
	const most = 3
	text := ""
	for i, r := range refs[:min(len(refs), most)] {
		if i > 0 {
			text += ", "
		}
		text += r.String()
	}
	if more := len(refs) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
