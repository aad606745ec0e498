package remediation

import (
	"fmt"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
	"github.com/statecraft-dev/statecraft/internal/remediation/observe"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
)

// What requests need besides what executions do.
//
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=remediationrequests,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=remediationrequests/status,verbs=patch
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=remediationrequests/finalizers,verbs=update
// +kubebuilder:rbac:groups=remediation.statecraft.dev,resources=kubernetesexecutions,verbs=create

// NewRequest builds the controller of RemediationRequests. It looks at targets as executions do.
func NewRequest(e kube.Env, looker observe.Looker) (*kube.Reconciler[*remediationv1.RemediationRequest, request.World], error) {
	gates, _, err := newGates(e)
	if err != nil {
		return nil, err
	}
	r := kube.NewReconciler(e, &request.Machine)
	r.Observe = observe.Request{
		Live: e.LiveReader(), Looker: looker, Gates: gates, Reservations: e.Reservations().Reservations,
	}.Observe
	r.Act = act.Request{Writer: e.Writer("request"), Live: e.LiveReader()}.Act
	return r, nil
}

// addRequests adds the controller of RemediationRequests to the area.
func addRequests(a *kube.Area, looker observe.Looker) error {
	requests, err := NewRequest(a.Env, looker)
	if err != nil {
		return fmt.Errorf("build the controller of requests: %w", err)
	}
	return kube.Add(a, requests, RequestWakes()...)
}
