package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// drainHint is what a person must know who drains a machine that volumes are bound to: pods that
// went wait for it to come back, and no more may go than the budget says.
func drainHint(in input) string {
	waiting := count(in.World.Nodes, func(n topology.Node) bool { return n.Server == nil && n.Trouble.Reason == podstate.Unschedulable })
	allowed := intstr.FromInt32(1)
	if most := in.Obj.Spec.PodDisruptionBudget.MaxUnavailable; most != nil {
		allowed = *most
	}
	limit, err := intstr.GetScaledValueFromIntOrPercent(&allowed, len(in.World.Nodes), true)
	if !in.Obj.Spec.Persistence.Enabled || waiting == 0 || err != nil || waiting < limit {
		return ""
	}
	return fmt.Sprintf(" If its machine is drained and its volume is there, the drain waits for the next pod: spec.podDisruptionBudget.maxUnavailable is %s, "+
		"and must be as many as the machine has pods of the cluster.", allowed.String())
}
