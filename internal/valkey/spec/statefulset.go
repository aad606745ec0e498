package spec

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// StatefulSet is one shard: a primary and its replicas, whichever of the pods that
// is. Pods start together and are replaced only by deleting them: which one may go,
// and when, depends on its role.
func StatefulSet(c *valkeyv1.ValkeyCluster, shard int) *appsv1.StatefulSet {
	labels := shardLabels(c, shard)
	return &appsv1.StatefulSet{
		ObjectMeta: owned(c, ShardName(c, shard), labels),
		Spec: appsv1.StatefulSetSpec{
			ServiceName:         NodesName(c),
			PodManagementPolicy: appsv1.ParallelPodManagement,
			UpdateStrategy:      appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Selector:            &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: described(c, labels)},
				Spec:       pod(c, shard),
			},
		},
	}
}

func pod(c *valkeyv1.ValkeyCluster, shard int) corev1.PodSpec {
	return corev1.PodSpec{
		Affinity:                      apart(shardLabels(c, shard)),
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		SecurityContext:               podSecurity(),
		TerminationGracePeriodSeconds: ptr.To(int64(30)),
		Containers:                    []corev1.Container{server(c)},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: EndpointName(c)},
			}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}
}

// apart keeps the pods of one shard on different nodes, and in different zones,
// where there are enough: a node that dies takes one copy of the data with it.
func apart(labels map[string]string) *corev1.Affinity {
	term := func(weight int32, topology string) corev1.WeightedPodAffinityTerm {
		return corev1.WeightedPodAffinityTerm{Weight: weight, PodAffinityTerm: corev1.PodAffinityTerm{
			LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
			TopologyKey:   topology,
		}}
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			term(100, corev1.LabelHostname),
			term(50, corev1.LabelTopologyZone),
		},
	}}
}
