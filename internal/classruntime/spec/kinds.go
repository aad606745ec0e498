package spec

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// The kinds of children.
const (
	KindDeployment = "Deployment"
	KindService    = "Service"
	KindAutoscaler = "HorizontalPodAutoscaler"
	KindBudget     = "PodDisruptionBudget"
)

// Kinds are all of them.
var Kinds = []string{KindDeployment, KindService, KindAutoscaler, KindBudget}

// KindOf names the kind of a child.
func KindOf(obj child.Object) string {
	switch obj.(type) {
	case *corev1.Service:
		return KindService
	case *autoscalingv2.HorizontalPodAutoscaler:
		return KindAutoscaler
	case *policyv1.PodDisruptionBudget:
		return KindBudget
	}
	return KindDeployment
}

// Blank is an object of one of these kinds of which only the name is known.
func Blank(kind, namespace, name string) child.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	switch kind {
	case KindService:
		return &corev1.Service{ObjectMeta: meta}
	case KindAutoscaler:
		return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}
	case KindBudget:
		return &policyv1.PodDisruptionBudget{ObjectMeta: meta}
	}
	return &appsv1.Deployment{ObjectMeta: meta}
}
