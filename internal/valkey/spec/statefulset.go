package spec

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// StatefulSet is one shard: a primary and its replicas, whichever of the pods that
// is. Pods start together and are replaced only by deleting them: which one may go,
// and when, depends on its role.
func (b Builder) StatefulSet(c *valkeyv1.ValkeyCluster, shard int) *appsv1.StatefulSet {
	s := b.shard(c, shard)
	stamp(s)
	s.Annotations[valkeyv1.TemplateAnnotation], s.Annotations[ImageAnnotation] = b.TemplateName(c, Variant{}), c.Spec.Image
	return s
}

// Upgraded is one shard as an upgrade has it. It bears the stamp of the spec, which did
// not ask for it: that is drift, and not a change to follow.
func (b Builder) Upgraded(c *valkeyv1.ValkeyCluster, shard int, v Variant) *appsv1.StatefulSet {
	s := b.StatefulSet(c, shard)
	s.Spec.Template = b.variant(c, shard, v)
	s.Annotations[valkeyv1.TemplateAnnotation] = b.TemplateName(c, v)
	return s
}

func (b Builder) shard(c *valkeyv1.ValkeyCluster, shard int) *appsv1.StatefulSet {
	labels := shardLabels(c, shard)
	return &appsv1.StatefulSet{
		ObjectMeta: owned(c, ShardName(c, shard), labels),
		Spec: appsv1.StatefulSetSpec{
			ServiceName:                          NodesName(c),
			PodManagementPolicy:                  appsv1.ParallelPodManagement,
			UpdateStrategy:                       appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Selector:                             &metav1.LabelSelector{MatchLabels: labels},
			Template:                             b.template(c, shard),
			VolumeClaimTemplates:                 claims(c),
			PersistentVolumeClaimRetentionPolicy: retention(c),
		},
	}
}

func (b Builder) template(c *valkeyv1.ValkeyCluster, shard int) corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      besides(c.Spec.Pods.Labels, described(c, shardLabels(c, shard))),
			Annotations: besides(c.Spec.Pods.Annotations, map[string]string{configAnnotation: Config(c)}),
		},
		Spec: b.pod(c, shard),
	}
	if b.Other != nil {
		b.Other(&template)
	}
	return template
}

func (b Builder) pod(c *valkeyv1.ValkeyCluster, shard int) corev1.PodSpec {
	s := c.Spec.Scheduling
	return corev1.PodSpec{
		NodeSelector:                  s.NodeSelector,
		Tolerations:                   s.Tolerations,
		Affinity:                      s.Affinity,
		PriorityClassName:             s.PriorityClassName,
		TopologySpreadConstraints:     placement(c, shard),
		ServiceAccountName:            c.Spec.Pods.ServiceAccountName,
		ImagePullSecrets:              c.Spec.Pods.ImagePullSecrets,
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		SecurityContext:               podSecurity(),
		TerminationGracePeriodSeconds: ptr.To(int64(grace(c))),
		InitContainers:                []corev1.Container{b.program()},
		Containers:                    []corev1.Container{server(c)},
		Volumes:                       volumes(c),
	}
}

// besides adds what the spec asks for to what is the operator's own, which nothing takes the place of.
func besides(asked, own map[string]string) map[string]string {
	all := maps.Clone(own)
	for key, value := range asked {
		if _, ours := own[key]; !ours {
			all[key] = value
		}
	}
	return all
}
