package capture

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/capture/guard"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// The rights of requesters are asked for, and the policies are looked at that check who they are.
//
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=list

// guardOf looks at the admission policies.
func guardOf(e kube.Env, c Config) (observe.Guard, error) {
	files, err := config.AdmissionPolicies("capture")
	if err != nil {
		return observe.Guard{}, err
	}
	shipped, err := guard.Parse(files, c.Namespace)
	return observe.Guard{Live: e.LiveReader(), Shipped: shipped}, err
}

// rightsOf asks the API server what requesters may do.
func rightsOf(e kube.Env, c Config) (observe.Rights, error) {
	guard, err := guardOf(e, c)
	return observe.Rights{May: e.May(), Gap: guard.Gap}, err
}

// policiesEvery is how often the policies are looked at, besides before every request that needs them.
const policiesEvery = time.Minute

func setupPolicies(a *kube.Area, c Config) error {
	guard, err := guardOf(a.Env, c)
	if err != nil {
		return err
	}
	watch := &policyWatch{guard: guard}
	return a.Every("admission policies", policiesEvery, watch.look)
}

// policyWatch tells by log and metric that requests are not guarded.
type policyWatch struct {
	guard observe.Guard
	gap   string
}

func (w *policyWatch) look(ctx context.Context) error {
	gap, err := w.guard.Gap(ctx, nil)
	if err != nil {
		return fmt.Errorf("look at admission policies: %w", err)
	}
	if gap != "" && gap != w.gap {
		log.FromContext(ctx).Info("requests that need rights of their requester are refused: "+gap+"; apply config/admission/capture", "gap", gap)
	}
	if gap == "" && w.gap != "" {
		log.FromContext(ctx).Info("the admission policies are in force again")
	}
	w.gap = gap
	metricUnguarded.Set(0)
	if gap != "" {
		metricUnguarded.Set(1)
	}
	return nil
}
