package spec

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// Execution carries out a step of a request. It goes with the request.
func Execution(rr *remediationv1.RemediationRequest, name string, asked remediationv1.KubernetesExecutionSpec) *remediationv1.KubernetesExecution {
	return &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: rr.Namespace, Name: name,
			Labels:          map[string]string{"app.kubernetes.io/part-of": "statecraft", remediationv1.RequestLabel: string(rr.UID)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rr, remediationv1.GroupVersion.WithKind("RemediationRequest"))},
		},
		Spec: asked,
	}
}
