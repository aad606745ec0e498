package capture

import (
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// The rights of requesters are asked for, and the policies are looked at that check who they are.
//
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=list
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=configmaps,verbs=create
// +kubebuilder:rbac:groups="",namespace=statecraft-system,resources=configmaps,resourceNames=statecraft-capture-policies,verbs=get;delete

// rightsOf asks the API server what requesters may do.
func rightsOf(a *kube.Area) (observe.Rights, error) {
	policies, err := a.Env.Policies(a.Name)
	return observe.Rights{May: a.Env.May(), Look: policies.Look, Accepted: observe.NewAccepted()}, err
}

// setupPolicies tells by log and metric that requests are not guarded, and records since when they are.
func setupPolicies(a *kube.Area, _ Config) error { return kube.WatchPolicies(a, metricUnguarded) }
