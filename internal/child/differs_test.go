package child

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

const stamped Stamp = "example.com/applied"

func wantSet() *appsv1.StatefulSet {
	labels := map[string]string{"app": "db"}
	s := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: labels},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				NodeSelector: map[string]string{"disk": "ssd"},
				Containers: []corev1.Container{{
					Name: "db", Image: "db:1", Args: []string{"--a", "--b"},
					Ports: []corev1.ContainerPort{{Name: "db", ContainerPort: 80}},
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("1000m"), corev1.ResourceMemory: resource.MustParse("1Gi")}},
					ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("db")}}},
				}},
				Volumes: []corev1.Volume{
					{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
					{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "key"}}},
				},
			}},
		},
	}
	stamped.Put(s, s)
	return s
}

// liveSet is what the API server makes of it: defaults, its own spelling, fields of others.
func liveSet() *appsv1.StatefulSet {
	s := wantSet().DeepCopy() // builders share maps
	s.UID, s.ResourceVersion, s.CreationTimestamp = "u1", "7", metav1.Unix(1, 0)
	s.Spec.VolumeClaimTemplates[0].TypeMeta = metav1.TypeMeta{} // not every encoding has it
	s.Labels["theirs"], s.Annotations["theirs"] = "x", "y"
	s.Spec.Replicas, s.Spec.RevisionHistoryLimit = ptr.To(int32(1)), ptr.To(int32(10))
	s.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	pod := &s.Spec.Template.Spec
	pod.RestartPolicy, pod.DNSPolicy, pod.TerminationGracePeriodSeconds = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, ptr.To(int64(30))
	pod.Volumes[1].Secret.DefaultMode = ptr.To(int32(0o644))
	pod.Volumes = append([]corev1.Volume{{Name: "injected"}}, pod.Volumes...)
	c := &pod.Containers[0]
	c.Ports[0].Protocol, c.ImagePullPolicy, c.TerminationMessagePath = corev1.ProtocolTCP, corev1.PullIfNotPresent, "/dev/termination-log"
	c.ReadinessProbe.PeriodSeconds, c.ReadinessProbe.TimeoutSeconds, c.ReadinessProbe.FailureThreshold = 10, 1, 3
	c.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
	c.Resources.Requests[corev1.ResourceMemory] = resource.MustParse("1073741824")
	c.Env = []corev1.EnvVar{{Name: "INJECTED", Value: "x"}}
	pod.Containers = append([]corev1.Container{{Name: "injected"}}, pod.Containers...)
	s.Status.Replicas = 3
	return s
}

func TestDiffers(t *testing.T) {
	container := func(s *appsv1.StatefulSet) *corev1.Container { return &s.Spec.Template.Spec.Containers[1] }
	for what, c := range map[string]struct {
		edit func(*appsv1.StatefulSet)
		want []string
	}{
		"nothing but defaults and fields of others": {func(*appsv1.StatefulSet) {}, nil},
		"a label of ours":              {func(s *appsv1.StatefulSet) { s.Labels["app"] = "x" }, []string{".metadata.labels.app"}},
		"a label of ours that is gone": {func(s *appsv1.StatefulSet) { s.Labels = nil }, []string{".metadata.labels.app"}},
		"how pods are replaced": {func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = "RollingUpdate" },
			[]string{".spec.updateStrategy.type"}},
		"more in a selector": {func(s *appsv1.StatefulSet) { s.Spec.Selector.MatchLabels["more"] = "x" }, []string{".spec.selector"}},
		"an expression in a selector": {func(s *appsv1.StatefulSet) {
			s.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "more", Operator: metav1.LabelSelectorOpExists}}
		}, []string{".spec.selector"}},
		"more in a node selector": {func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.NodeSelector["more"] = "x" },
			[]string{".spec.template.spec.nodeSelector"}},
		"an image": {func(s *appsv1.StatefulSet) { container(s).Image = "x" },
			[]string{`.spec.template.spec.containers[name="db"].image`}},
		"more arguments": {func(s *appsv1.StatefulSet) { container(s).Args = append(container(s).Args, "--c") },
			[]string{`.spec.template.spec.containers[name="db"].args`}},
		"a port that is gone": {func(s *appsv1.StatefulSet) { container(s).Ports = nil },
			[]string{`.spec.template.spec.containers[name="db"].ports[containerPort=80,protocol="TCP"]`}},
		"another request": {func(s *appsv1.StatefulSet) {
			container(s).Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
		},
			[]string{`.spec.template.spec.containers[name="db"].resources.requests.cpu`}},
		"another source of a volume": {func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Volumes[1].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		}, []string{`.spec.template.spec.volumes[name="scratch"].emptyDir`}},
		"two fields": {func(s *appsv1.StatefulSet) { s.Labels["app"], container(s).Image = "x", "x" },
			[]string{".metadata.labels.app", `.spec.template.spec.containers[name="db"].image`}},
	} {
		t.Run(what, func(t *testing.T) {
			live := liveSet()
			c.edit(live)
			fields, err := Differs(wantSet(), live)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(fields); !slices.Equal(got, c.want) {
				t.Errorf("differs in %v, want %v", got, c.want)
			}
		})
	}
}

func names(fields []Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.String())
	}
	return names
}

func TestDiffersInData(t *testing.T) {
	want := &corev1.Secret{Data: map[string][]byte{"key": []byte("ours")}, Type: corev1.SecretTypeOpaque}
	for what, c := range map[string]struct {
		data map[string][]byte
		want []string
	}{
		"the same, and a key of others": {map[string][]byte{"key": []byte("ours"), "other": nil}, nil},
		"another value":                 {map[string][]byte{"key": []byte("theirs")}, []string{".data.key"}},
		"none":                          {nil, []string{".data.key"}},
	} {
		fields, err := Differs(want, &corev1.Secret{Data: c.data, Type: corev1.SecretTypeOpaque})
		if err != nil || !slices.Equal(names(fields), c.want) {
			t.Errorf("%s: differs in %v, want %v: %v", what, names(fields), c.want, err)
		}
	}
}
