package perform

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// disown is what a ReplicaSet does to a pod whose labels were changed: nobody makes another one for it.
func disown(c *cluster) { c.write(`{"metadata":{"ownerReferences":null}}`) }

// A pod that goes does not say who deleted it. So it counts only what the API server has answered, and
// a pod that is still there is one that was not deleted.
func TestDeletions(t *testing.T) {
	const gone, terminating = "Pod web is gone.", "Pod web is being deleted."
	const lostAnd = "The action deleted Pod web, and the answer was lost: "
	const another = "Pod web was deleted after it was approved, and another one has its name."
	const disowned = "Pod web was changed after it was approved, in the fields that the action works on."
	const unproven = lostAnd + "it is being deleted, and perhaps by another client"
	for say, o := range map[string]outcome{
		"the pod is as approved":                   {effect: applied, effects: 1, writes: 1},
		"it is gone":                               {faults: map[string]fault{"GET 1": first(remove)}, effect: notApplied, reason: action.ReasonTargetChanged, say: gone, idle: true},
		"another one has its name":                 {faults: map[string]fault{"GET 1": first(recreate)}, effect: notApplied, reason: action.ReasonTargetChanged, say: another, idle: true},
		"somebody else deletes it":                 {faults: map[string]fault{"GET 1": first(begin)}, effect: notApplied, reason: action.ReasonTargetChanged, say: terminating, idle: true},
		"it has no owner any more":                 {faults: map[string]fault{"GET 1": first(disown)}, effect: notApplied, reason: action.ReasonTargetChanged, say: disowned, idle: true},
		"it loses its owner before the deletion":   {faults: map[string]fault{"DELETE 1": first(disown)}, effect: notApplied, reason: action.ReasonTargetChanged, say: disowned, writes: 1},
		"somebody else is faster":                  {faults: map[string]fault{"DELETE 1": first(begin)}, effect: notApplied, reason: action.ReasonTargetChanged, say: terminating, writes: 1},
		"it goes before the deletion":              {faults: map[string]fault{"DELETE 1": first(remove)}, effect: notApplied, reason: action.ReasonTargetChanged, say: gone, writes: 1},
		"it is replaced before the deletion":       {faults: map[string]fault{"DELETE 1": first(recreate)}, effect: notApplied, reason: action.ReasonTargetChanged, say: another, writes: 1},
		"its status is written before":             {faults: map[string]fault{"DELETE 1": first(writeStatus)}, effect: applied, effects: 1, writes: 2},
		"the API server is busy for a while":       {faults: map[string]fault{"DELETE 1": failing(busyNow)}, effect: applied, effects: 1, writes: 2},
		"it is refused":                            {faults: map[string]fault{"DELETE": failing(forbidden)}, effect: notApplied, reason: action.ReasonFailed, say: "The API server refuses it: " + forbidden.Error(), writes: 1},
		"an answer is lost, and it was not done":   {faults: map[string]fault{"DELETE 1": lostBefore()}, effect: applied, effects: 1, writes: 2},
		"an answer is lost, and it cannot be done": {faults: map[string]fault{"DELETE 1": lostBefore(writeStatus)}, effect: applied, effects: 1, writes: 2},
		"an answer is lost, and it loses its owner": {faults: map[string]fault{"DELETE 1": lostBefore(disown)}, effect: notApplied, reason: action.ReasonTargetChanged,
			say: disowned, writes: 1},
		"an answer is lost, and it was done":       {faults: map[string]fault{"DELETE 1": lostAfter()}, effect: unknown, say: unproven, effects: 1, writes: 1},
		"an answer is lost, and somebody else did": {faults: map[string]fault{"DELETE 1": lostBefore(begin)}, effect: unknown, say: unproven, writes: 1},
		"an answer is lost, and it goes":           {faults: map[string]fault{"DELETE 1": lostAfter(remove)}, effect: unknown, say: lostAnd + "since then: " + gone, effects: 1, writes: 1},
		"an answer is lost, and it is replaced":    {faults: map[string]fault{"DELETE 1": lostAfter(recreate)}, effect: unknown, say: lostAnd + "since then: " + another, effects: 1, writes: 1},
	} {
		o.object, o.command = pod, deletion(nil)
		t.Run(say, o.try)
		if o.faults["DELETE 1"] == nil {
			o.command = deletion(action.Params{"gracePeriodSeconds": int64(0)})
			t.Run(say+", at once", o.try)
		}
	}
}
