package spec

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// edits changes every field of the spec, one after the other.
var edits = map[string][]func(*valkeyv1.ValkeyClusterSpec){
	"Masters":            {func(s *valkeyv1.ValkeyClusterSpec) { s.Masters = 5 }},
	"ReplicasPerMaster":  {func(s *valkeyv1.ValkeyClusterSpec) { s.ReplicasPerMaster = ptr.To(int32(4)) }},
	"Image":              {func(s *valkeyv1.ValkeyClusterSpec) { s.Image = "valkey:10" }},
	"NodeTimeoutSeconds": {func(s *valkeyv1.ValkeyClusterSpec) { s.NodeTimeoutSeconds = 9 }},
	"Config": {
		func(s *valkeyv1.ValkeyClusterSpec) { s.Config = map[string]valkeyv1.ConfigValue{"hz": "20"} },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Config = map[string]valkeyv1.ConfigValue{"io-threads": "4"} },
	},
	"Resources": {
		func(s *valkeyv1.ValkeyClusterSpec) {
			s.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		},
		func(s *valkeyv1.ValkeyClusterSpec) {
			s.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}
		},
	},
	"Persistence": {
		func(s *valkeyv1.ValkeyClusterSpec) { s.Persistence.Enabled = !s.Persistence.Enabled },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Persistence.Size = ptr.To(resource.MustParse("80Gi")) },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Persistence.AOF = ptr.To(false) },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Persistence.RDB = true },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Persistence.WhenDeleted = valkeyv1.DeleteVolumes },
	},
	"Replication": {
		func(s *valkeyv1.ValkeyClusterSpec) { s.Replication.MinReplicasToWrite = 2 },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Replication.MaxLagSeconds = 99 },
	},
	"Scheduling": {
		func(s *valkeyv1.ValkeyClusterSpec) { s.Scheduling.NodeSelector = map[string]string{"disk": "ssd"} },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Scheduling.Tolerations = []corev1.Toleration{{Key: "spot"}} },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Scheduling.Affinity = &corev1.Affinity{} },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Scheduling.PriorityClassName = "high" },
		func(s *valkeyv1.ValkeyClusterSpec) {
			s.Scheduling.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "rack", WhenUnsatisfiable: corev1.ScheduleAnyway}}
		},
	},
	"Pods": {
		func(s *valkeyv1.ValkeyClusterSpec) { s.Pods.Labels = map[string]string{"team": "shop"} },
		func(s *valkeyv1.ValkeyClusterSpec) { s.Pods.Annotations = map[string]string{"example.com/a": "b"} },
		func(s *valkeyv1.ValkeyClusterSpec) {
			s.Pods.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
		},
		func(s *valkeyv1.ValkeyClusterSpec) { s.Pods.ServiceAccountName = "web" },
	},
	"SlotMigration": {func(s *valkeyv1.ValkeyClusterSpec) {
		s.SlotMigration.MaxBytesPerSecond = ptr.To(resource.MustParse("1Mi"))
	}},
	"PodDisruptionBudget": {func(s *valkeyv1.ValkeyClusterSpec) {
		s.PodDisruptionBudget.MaxUnavailable = ptr.To(intstr.FromInt32(2))
	}},
	"TerminationGracePeriodSeconds": {func(s *valkeyv1.ValkeyClusterSpec) { s.TerminationGracePeriodSeconds = 600 }},
	"OnTotalLoss":                   {func(s *valkeyv1.ValkeyClusterSpec) { s.OnTotalLoss = valkeyv1.RecreateOnTotalLoss }},
	"TLS":                           {func(s *valkeyv1.ValkeyClusterSpec) { s.TLS = &valkeyv1.TLS{SecretName: "other"} }},
	"Auth": {
		func(s *valkeyv1.ValkeyClusterSpec) { s.Auth = &valkeyv1.Auth{SecretName: "other"} },
		func(s *valkeyv1.ValkeyClusterSpec) {
			if s.Auth != nil {
				s.Auth.Rotation++
			}
		},
	},
	"Maintenance": {func(s *valkeyv1.ValkeyClusterSpec) { s.Maintenance = &valkeyv1.Maintenance{TimeZone: "UTC"} }},
	"ApprovePlan": {func(s *valkeyv1.ValkeyClusterSpec) { s.ApprovePlan = true }},
	"Paused":      {func(s *valkeyv1.ValkeyClusterSpec) { s.Paused = true }},
}

// TestPodFieldsAreThoseOfTheTemplate: an edit that leads to another template is known to be one, and no other edit is.
func TestPodFieldsAreThoseOfTheTemplate(t *testing.T) {
	fields := reflect.TypeFor[valkeyv1.ValkeyClusterSpec]()
	for i := range fields.NumField() {
		if len(edits[fields.Field(i).Name]) == 0 {
			t.Errorf("nobody tries to edit %s", fields.Field(i).Name)
		}
	}
	volumes := valkeyv1.ValkeyClusterSpec{
		Image: "valkey:8", Masters: 3, ReplicasPerMaster: ptr.To(int32(3)), Persistence: valkeyv1.Persistence{Enabled: true},
		Replication: valkeyv1.Replication{MinReplicasToWrite: 1, MaxLagSeconds: 10}, TLS: &valkeyv1.TLS{SecretName: "tls"}, Auth: &valkeyv1.Auth{SecretName: "auth"},
	}
	for what, spec := range map[string]valkeyv1.ValkeyClusterSpec{"with volumes": volumes, "with little": {Image: "valkey:8", Masters: 3}} {
		for field, all := range edits {
			for i, edit := range all {
				before := &valkeyv1.ValkeyCluster{Spec: spec}
				before.Name = "web"
				after := before.DeepCopy()
				edit(&after.Spec)
				b := Builder{NodeImage: "node"}
				restarts := b.TemplateName(before, Variant{}) != b.TemplateName(after, Variant{})
				if edited := PodFields(before) != PodFields(after); edited != restarts {
					t.Errorf("%s, edit %d of %s: the template changes: %t; the fields do: %t", what, i, field, restarts, edited)
				}
			}
		}
	}
}
