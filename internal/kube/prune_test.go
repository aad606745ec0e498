package kube

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// What is applied of objects as builders make them, file by file. A line that
// appears without having been set would be owned, and fought over.
func TestApplyOf(t *testing.T) {
	for name, obj := range map[string]client.Object{
		"statefulset":   aStatefulSet(),
		"service":       aService(),
		"networkpolicy": &networkingv1.NetworkPolicy{ObjectMeta: named("deny-all"), Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}}},
		"disruption": &policyv1.PodDisruptionBudget{ObjectMeta: named("budget"), Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{}}},
		"configmap": &corev1.ConfigMap{ObjectMeta: named("empty"), Data: map[string]string{"empty": "", "serviceName": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			was := obj.DeepCopyObject()
			u, err := ApplyOf(obj, clientgoscheme.Scheme)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was, obj); diff != "" {
				t.Errorf("the builder's object was changed: %s", diff)
			}
			got, err := yaml.Marshal(u.Object)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "apply", name+".yaml"), got)
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// named has all that the server would have written, too.
func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: "server-side", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: metav1.Unix(1, 0), ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "someone"}},
	}
}

func aStatefulSet() *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: named("db"),
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(int32(0)), // set to zero, which is not the same as not set
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db", "serviceName": ""}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				AutomountServiceAccountToken: ptr.To(false),
				Containers:                   []corev1.Container{{Name: "db", Image: "db:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}},
				Volumes: []corev1.Volume{
					{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				},
			}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}},
			}},
		},
	}
}

func aService() *corev1.Service {
	return &corev1.Service{ObjectMeta: named("db"), Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Name: "db", Port: 80}},
	}}
}
