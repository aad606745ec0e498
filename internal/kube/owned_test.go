package kube

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// richSet has all kinds of lists and atomic parts that a pod can have.
func richSet() client.Object {
	s := aStatefulSet()
	s.Finalizers = []string{"example.com/one"}
	s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "o1", Controller: ptr.To(true)}}
	pod := &s.Spec.Template.Spec
	pod.NodeSelector = map[string]string{"disk": "ssd"}
	pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
	pod.HostAliases = []corev1.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"a"}}}
	pod.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
	pod.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
		{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway},
	}
	pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}}}}}}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "all", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "key"}}}}}}})
	c := &pod.Containers[0]
	c.Args = []string{"--a"}
	c.Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}, {ContainerPort: 80, Protocol: corev1.ProtocolUDP}}
	c.Env = []corev1.EnvVar{{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
		{Name: "KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}}}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "all", MountPath: "/all"}}
	c.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/data"}}
	c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	return s
}

func richService() client.Object {
	s := aService()
	s.Spec.Selector = map[string]string{"app": "db"}
	s.Spec.Ports[0].Protocol = corev1.ProtocolTCP
	return s
}

// Every field that the API server would call ours by its schema is missed, by that name, when
// it is gone. So a list has the keys that the schema gives it, and no field is overlooked.
func TestEveryOwnedFieldIsMissed(t *testing.T) {
	schema := applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)
	for name, obj := range map[string]client.Object{"statefulset": richSet(), "service": richService()} {
		t.Run(name, func(t *testing.T) {
			applied, err := ApplyOf(obj, clientgoscheme.Scheme)
			if err != nil {
				t.Fatal(err)
			}
			typed, err := schema.ObjectToTyped(applied)
			if err != nil {
				t.Fatal(err)
			}
			owned, err := typed.ToFieldSet()
			if err != nil {
				t.Fatal(err)
			}
			fields := 0
			owned.Leaves().Iterate(func(field fieldpath.Path) {
				if first := *field[0].FieldName; first == "apiVersion" || first == "kind" || field[len(field)-1].Value != nil {
					return
				}
				fields++
				missed(t, obj, typed.RemoveItems(fieldpath.NewSet(field)).AsValue(), field)
			})
			if fields < 5 {
				t.Errorf("only %d fields", fields)
			}
		})
	}
}

func missed(t *testing.T, want client.Object, without value.Value, field fieldpath.Path) {
	t.Helper()
	live := reflect.New(reflect.TypeOf(want).Elem()).Interface().(client.Object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(without.Unstructured().(map[string]any), live); err != nil {
		t.Fatal(err)
	}
	differing, err := child.Differs(want, live)
	if err != nil {
		t.Fatal(err)
	}
	item := field[:len(field)-1] // of a list, which cannot be found without its key
	if !slices.ContainsFunc(differing, func(d child.Field) bool { return d.Equals(field) || d.Equals(item) && item[len(item)-1].Key != nil }) {
		t.Errorf("without %s differs in %q", field, child.Names(differing))
	}
}
