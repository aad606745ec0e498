package class

import (
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Machine is the whole life of a class. A life without trouble is three writes of status: applying, before its
// first effect, progressing, and available.
var Machine = fsm.Machine[*runtimev1.ClassRuntime, World]{
	Kind:       "ClassRuntime",
	Report:     report,
	Conditions: conditions,
	Evident:    []string{runtimev1.Serving},
	Lanes:      &lanes,
	Wakes: []fsm.Wake{
		{Name: "children", By: fsm.ByWatch},
		{Name: "pods", By: fsm.ByWatch},
		{Name: "others", By: fsm.ByWatch},
		{Name: "telemetry", By: fsm.BySampler},
	},
	Rules: fsm.Rules[input]{
		Start: Pending,
		Groups: []fsm.Group{
			{Name: "Existing", Phases: []fsm.Phase{Pending, Applying, Progressing, Available, Degraded}},
			{Name: "Rolling out", Phases: []fsm.Phase{Applying, Progressing}},
		},
		Guards: []fsm.Guard[input]{
			{On: DeletionRequested, To: Deleting, When: func(in input) bool { return in.Obj.DeletionTimestamp != nil }},
		},
		// A paused class goes on to be judged: what becomes ready, or degrades, says so.
		Holds: []fsm.Hold[input]{{Reason: ReasonPaused, In: []fsm.Phase{Applying}, When: paused, Wake: "self", ClockRuns: true}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Looking for what exists of the class.",
				Class:  fsm.Working,
				Decide: decidePending,
				On:     map[fsm.Event]fsm.Phase{Began: Applying, AllApplied: Progressing},
			},
			Applying: {
				Doc:    "Bringing the children into the shape that the spec asks for.",
				Class:  fsm.Working,
				Decide: decideApplying,
				On:     map[fsm.Event]fsm.Phase{AllApplied: Progressing, Refused: Degraded},
				Fail:   map[fsm.ErrorClass]fsm.Event{fsm.Refused: Refused, fsm.Contested: Refused},
			},
			Progressing: {
				Doc:    "All children are applied; waiting until every function is ready.",
				Class:  fsm.Working,
				Decide: decideProgressing,
				On:     map[fsm.Event]fsm.Phase{BecameReady: Available, Outdated: Applying, Failed: Degraded, Overdue: Degraded},
				Until:  backstop, Late: Overdue, LateReason: ReasonTimeout,
			},
			Available: {
				Doc:    "Every function is ready, or has lost no more replicas than may be spared.",
				Class:  fsm.Steady,
				Decide: decideAvailable,
				On:     map[fsm.Event]fsm.Phase{Outdated: Applying, Unready: Progressing, Failed: Degraded, Overdue: Degraded},
			},
			Degraded: {
				Doc:    "Something is wrong that does not pass by waiting for a rollout. What was refused is tried again.",
				Class:  fsm.Degraded,
				Decide: decideDegraded,
				On:     map[fsm.Event]fsm.Phase{Outdated: Applying, Recovered: Progressing},
			},
			Deleting: {
				Doc:    "The class is being deleted; garbage collection takes its children.",
				Class:  fsm.Working,
				Decide: decideDeleting,
			},
		},
	},
}

func paused(in input) (string, bool) {
	return "The class is paused: unset spec.paused, and the manager applies the spec.", in.Obj.Spec.Paused
}

// patience is how long a function may make no progress.
func patience(c *runtimev1.ClassRuntime) time.Duration {
	const standard = 600 * time.Second
	if s := c.Spec.ProgressDeadlineSeconds; s > 0 {
		return time.Duration(s) * time.Second
	}
	return standard
}

// backstop is when a rollout is given up that the controller of Deployments does not call stuck: each bit of progress
// starts its clock anew.
func backstop(in input) time.Time { return in.Now.Add(3 * patience(in.Obj)) }
