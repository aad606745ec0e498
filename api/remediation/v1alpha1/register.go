package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of area remediation.
const GroupName = "remediation.statecraft.dev"

// GroupVersion is the version that this package holds.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// AddToScheme registers the kinds of area remediation.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&KubernetesExecution{}, &KubernetesExecutionList{},
		&RemediationRequest{}, &RemediationRequestList{},
		&ExecutionApproval{}, &ExecutionApprovalList{},
		&ActionDefinition{}, &ActionDefinitionList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
