package remediation

import (
	"context"
	"fmt"
	"time"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
)

// countHeldEvery is how soon the metric tells that a brake holds.
const countHeldEvery = 5 * time.Second

// brakes are the reasons of those that are counted.
var brakes = []fsm.Reason{execution.ReasonStorm, execution.ReasonRateLimited, execution.ReasonCoolingDown}

// heldBy is the brake that holds an execution, by its status; "" is none.
func heldBy(x *remediationv1.KubernetesExecution) string {
	for _, brake := range brakes {
		if x.Status.Reason == brake && !execution.Ended(x) {
			return string(brake)
		}
	}
	return ""
}

// countHeld counts the executions that each brake holds.
func countHeld(a *kube.Area) error {
	cached := a.Env.Cached()
	return a.Every("brakes", countHeldEvery, func(ctx context.Context) error {
		for _, brake := range brakes {
			var list remediationv1.KubernetesExecutionList
			if err := cached.List(ctx, &list, read.Fields{observe.ByBrake: string(brake)}); err != nil {
				return fmt.Errorf("count executions that are held: %w", err)
			}
			metricHeld.WithLabelValues(string(brake)).Set(float64(len(list.Items)))
		}
		return nil
	})
}
