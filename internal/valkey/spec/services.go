package spec

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// NodesService gives every pod a name, ready or not: servers must find each other
// before they can be ready.
func NodesService(c *valkeyv1.ValkeyCluster) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: owned(c, NodesName(c), Labels(c)),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 Labels(c),
			Ports: []corev1.ServicePort{
				port("valkey", valkeyv1.ClientPort),
				port("bus", valkeyv1.BusPort),
			},
		},
	}
}

// EndpointService is where clients connect: any ready server tells them the rest.
func EndpointService(c *valkeyv1.ValkeyCluster) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: owned(c, EndpointName(c), Labels(c)),
		Spec: corev1.ServiceSpec{
			Selector: Labels(c),
			Ports:    []corev1.ServicePort{port("valkey", valkeyv1.ClientPort)},
		},
	}
}

// NOTE: the protocol is said although it is the default: it is part of the key of
// a list entry, and server-side apply refuses one without.
func port(name string, number int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: number, TargetPort: intstr.FromString(name), Protocol: corev1.ProtocolTCP}
}

// closedAnnotation tells a budget that was closed from one that a user wants to be 0.
const closedAnnotation = "valkey.statecraft.dev/closed"

// Close lets no pod be drained.
func Close(b *policyv1.PodDisruptionBudget) {
	b.Spec.MaxUnavailable = ptr.To(intstr.FromInt32(0))
	b.Annotations[closedAnnotation] = "true"
}

// Closed says that a budget was closed.
func Closed(b *policyv1.PodDisruptionBudget) bool { return b.Annotations[closedAnnotation] != "" }

// DisruptionBudget says how many pods of the cluster may be drained at a time. It is one
// for all shards, because a pod may match only one.
func DisruptionBudget(c *valkeyv1.ValkeyCluster) *policyv1.PodDisruptionBudget {
	most := intstr.FromInt32(1)
	if m := c.Spec.PodDisruptionBudget.MaxUnavailable; m != nil {
		most = *m
	}
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: owned(c, EndpointName(c), Labels(c)),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &most,
			Selector:       &metav1.LabelSelector{MatchLabels: Labels(c)},
		},
	}
}
