package spec

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// The volumes of a pod.
const (
	configVolume  = "config"
	dataVolume    = "data"
	programVolume = "statecraft"
)

const defaultSize = "8Gi"

// ClaimName is the name of the claim of one pod's volume.
func ClaimName(c *valkeyv1.ValkeyCluster, shard, ordinal int) string {
	return fmt.Sprintf("%s-%s", dataVolume, PodName(c, shard, ordinal))
}

func volumes(c *valkeyv1.ValkeyCluster) []corev1.Volume {
	list := []corev1.Volume{
		{Name: programVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: configVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: configSources(c)}}},
	}
	secret, _ := accessVolumes(c)
	list = append(list, secret...)
	if !c.Spec.Persistence.Enabled {
		list = append(list, corev1.Volume{Name: dataVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	return list
}

// configSources are the pod itself, and what all pods share.
func configSources(c *valkeyv1.ValkeyCluster) []corev1.VolumeProjection {
	return []corev1.VolumeProjection{
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
			Path: ConfigFile, FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + configAnnotation + "']"},
		}}}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: EndpointName(c)},
			Items:                []corev1.KeyToPath{{Key: LiveFile, Path: LiveFile}, {Key: ReplicasFile, Path: ReplicasFile}},
		}},
		{ConfigMap: &corev1.ConfigMapProjection{ // not there before the cluster was formed
			LocalObjectReference: corev1.LocalObjectReference{Name: EndpointName(c)}, Items: []corev1.KeyToPath{{Key: FormedFile, Path: FormedFile}},
			Optional: ptr.To(true),
		}},
	}
}

func claims(c *valkeyv1.ValkeyCluster) []corev1.PersistentVolumeClaim {
	p := c.Spec.Persistence
	if !p.Enabled {
		return nil
	}
	// NOTE: kind, phase and mode are said although they are defaults: server-side apply
	// would see a StatefulSet whose claims differ, and those cannot be changed.
	mode := corev1.PersistentVolumeFilesystem
	return []corev1.PersistentVolumeClaim{{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: dataVolume, Labels: Labels(c)},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: VolumeSize(c)}},
			StorageClassName: p.StorageClassName,
			VolumeMode:       &mode,
		},
	}}
}

// ClaimPlace is the shard and the ordinal that a claim of the cluster is for.
func ClaimPlace(c *valkeyv1.ValkeyCluster, name string) (shard, ordinal int, is bool) {
	n, err := fmt.Sscanf(strings.TrimPrefix(name, dataVolume+"-"+c.Name+"-"), "%d-%d", &shard, &ordinal)
	return shard, ordinal, err == nil && n == 2 && name == ClaimName(c, shard, ordinal)
}

// KeepVolumeSize leaves the size in the claims of a StatefulSet as it is: it cannot be changed.
func KeepVolumeSize(s, is *appsv1.StatefulSet) {
	s.Spec.VolumeClaimTemplates = slices.Clone(s.Spec.VolumeClaimTemplates)
	for i := range min(len(s.Spec.VolumeClaimTemplates), len(is.Spec.VolumeClaimTemplates)) {
		s.Spec.VolumeClaimTemplates[i].Spec.Resources = is.Spec.VolumeClaimTemplates[i].Spec.Resources
	}
}

// VolumeSize is the size of every volume.
func VolumeSize(c *valkeyv1.ValkeyCluster) resource.Quantity {
	if size := c.Spec.Persistence.Size; size != nil {
		return *size
	}
	return resource.MustParse(defaultSize)
}

// retention never lets volumes go by scaling: a person who scales a StatefulSet by hand would lose its data. The manager
// removes those of servers that it removed itself. Those of a cluster that is deleted are the user's.
func retention(c *valkeyv1.ValkeyCluster) *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if !c.Spec.Persistence.Enabled {
		return nil
	}
	policy := &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
	if c.Spec.Persistence.WhenDeleted == valkeyv1.DeleteVolumes {
		policy.WhenDeleted = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	return policy
}
