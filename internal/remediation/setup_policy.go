package remediation

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
)

// policyEvery is how soon it is told that the policy pack does not compile, also while no execution asks it.
const policyEvery = time.Minute

// guardPolicy lets the last policy pack that compiled answer while the present one does not, and tells of that.
func guardPolicy(a *kube.Area, next observe.Evaluator) (observe.Evaluator, error) {
	policies := &observe.LastGood{
		Next: next, Pack: observe.Packs{Live: a.Env.LiveReader(), Namespace: a.Env.Namespace}.Read,
		Invalid: func(is bool) {
			metricPolicyInvalid.Set(0)
			if is {
				metricPolicyInvalid.Set(1)
			}
		},
	}
	return policies, a.Every("policy pack", policyEvery, policies.Look)
}
