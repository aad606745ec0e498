package chart

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// typed reads a rendered object, strictly: a field that its kind does not have is a mistake of the chart.
func typed[T any](t *testing.T, objects map[string]*unstructured.Unstructured, name string) (obj T) {
	t.Helper()
	if objects[name] == nil {
		t.Fatalf("%s is not rendered", name)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(objects[name].Object, &obj, true); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return obj
}

// TestManagersOutliveNodes: by default an area has two managers, on two nodes if there are two, of which a drain takes one at a time, and
// which come before the pods of users.
func TestManagersOutliveNodes(t *testing.T) {
	t.Parallel()
	objects := mustRender(t)
	for _, area := range names() {
		name := namespace + "/statecraft-" + area
		deployment := typed[appsv1.Deployment](t, objects, "Deployment "+name)
		budget := typed[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget "+name)
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "statecraft-" + area}}
		pod := deployment.Spec.Template
		for what, diff := range map[string]string{
			"replicas":        cmp.Diff(ptr.To[int32](2), deployment.Spec.Replicas),
			"selector":        cmp.Diff(selector, deployment.Spec.Selector),
			"labels":          cmp.Diff(selector.MatchLabels["app.kubernetes.io/name"], pod.Labels["app.kubernetes.io/name"]),
			"account":         cmp.Diff("statecraft-"+area, pod.Spec.ServiceAccountName),
			"priority":        cmp.Diff("system-cluster-critical", pod.Spec.PriorityClassName),
			"budget":          cmp.Diff(ptr.To(intstr.FromInt32(1)), budget.Spec.MaxUnavailable),
			"selected by it":  cmp.Diff(selector, budget.Spec.Selector),
			"spread of nodes": cmp.Diff(spread(selector), pod.Spec.TopologySpreadConstraints),
		} {
			if diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", area, what, diff)
			}
		}
		checkManager(t, area, pod.Spec)
	}
}

// TestTheAuditDatabase: the manager is told of the files of one Secret, of which it needs no more rights than to mount it.
func TestTheAuditDatabase(t *testing.T) {
	t.Parallel()
	const name = "Deployment " + namespace + "/statecraft-remediation"
	pod := typed[appsv1.Deployment](t, mustRender(t, "--set=areas.remediation.audit.secretName=audit,areas.remediation.audit.required=true"), name).Spec.Template.Spec
	for _, arg := range []string{"--audit-dsn-file=/etc/statecraft/audit/dsn", "--audit-key-file=/etc/statecraft/audit/keys", "--audit-required"} {
		if !slices.Contains(pod.Containers[0].Args, arg) {
			t.Errorf("%s is missing: %q", arg, pod.Containers[0].Args)
		}
	}
	mounts := []corev1.VolumeMount{{Name: "audit", MountPath: "/etc/statecraft/audit", ReadOnly: true}}
	volumes := []corev1.Volume{{Name: "audit", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "audit"}}}}
	if diff := cmp.Diff(mounts, pod.Containers[0].VolumeMounts) + cmp.Diff(volumes, pod.Volumes); diff != "" {
		t.Error(diff)
	}
	if _, err := render(t, "--set=areas.remediation.audit.required=true"); err == nil {
		t.Error("records are required, and no database is named")
	}
}

// spread puts no second manager of a version on a node while another has none.
func spread(selector *metav1.LabelSelector) []corev1.TopologySpreadConstraint {
	return []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: selector, MatchLabelKeys: []string{"pod-template-hash"},
	}}
}

// checkManager: a manager may do nothing on its node, and has its part of the node.
func checkManager(t *testing.T, area string, pod corev1.PodSpec) {
	t.Helper()
	if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 || len(pod.Volumes) > 0 {
		t.Fatalf("%s: the pod has more than a manager: %+v", area, pod)
	}
	wantPod := &corev1.PodSecurityContext{
		RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), RunAsGroup: ptr.To[int64](65532),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	wantContainer := &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	if diff := cmp.Diff(wantPod, pod.SecurityContext) + cmp.Diff(wantContainer, pod.Containers[0].SecurityContext); diff != "" {
		t.Errorf("%s: security (-want +got):\n%s", area, diff)
	}
	if pod.HostNetwork || pod.HostPID || pod.HostIPC || slices.ContainsFunc(pod.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }) {
		t.Errorf("%s: the pod has a part of its node", area)
	}
	has := pod.Containers[0].Resources
	for what, quantities := range map[string][2]resource.Quantity{
		"requested cpu":    {resource.MustParse("10m"), has.Requests[corev1.ResourceCPU]},
		"requested memory": {resource.MustParse("64Mi"), has.Requests[corev1.ResourceMemory]},
		"limit of memory":  {resource.MustParse("512Mi"), has.Limits[corev1.ResourceMemory]},
	} {
		if quantities[0].Cmp(quantities[1]) != 0 {
			t.Errorf("%s: %s is %s, want %s", area, what, &quantities[1], &quantities[0])
		}
	}
}

// TestManagersAreAsValuesSay: each value reaches the pods of its area, and no others.
func TestManagersAreAsValuesSay(t *testing.T) {
	t.Parallel()
	objects := mustRender(t, "--set=areas.valkey.replicas=3,areas.valkey.resources.limits.memory=1Gi,areas.valkey.args={--workers=8}",
		"--set=pods.priorityClassName=platform,pods.nodeSelector.pool=system,pods.labels.team=platform,pods.annotations.mesh=off",
		"--set=pods.tolerations[0].key=system,image.pullPolicy=Always,image.pullSecrets={pull}")
	valkey := typed[appsv1.Deployment](t, objects, "Deployment "+namespace+"/statecraft-valkey").Spec
	capture := typed[appsv1.Deployment](t, objects, "Deployment "+namespace+"/statecraft-capture").Spec
	manager := valkey.Template.Spec.Containers[0]
	if *valkey.Replicas != 3 || *capture.Replicas != 2 || manager.Resources.Limits.Memory().String() != "1Gi" || !slices.Contains(manager.Args, "--workers=8") {
		t.Errorf("%d and %d managers, with %v, told %v", *valkey.Replicas, *capture.Replicas, manager.Resources, manager.Args)
	}
	if other := capture.Template.Spec.Containers[0]; other.Resources.Limits.Memory().String() != "512Mi" || slices.Contains(other.Args, "--workers=8") {
		t.Errorf("values of an area reach another: %v, told %v", other.Resources, other.Args)
	}
	for _, pod := range []corev1.PodTemplateSpec{valkey.Template, capture.Template} {
		for what, is := range map[string]bool{
			"priority":    pod.Spec.PriorityClassName == "platform",
			"nodes":       cmp.Equal(pod.Spec.NodeSelector, map[string]string{"pool": "system"}),
			"labels":      pod.Labels["team"] == "platform" && pod.Labels["app.kubernetes.io/part-of"] == "statecraft",
			"annotations": pod.Annotations["mesh"] == "off",
			"tolerations": cmp.Equal(pod.Spec.Tolerations, []corev1.Toleration{{Key: "system"}}),
			"pull policy": pod.Spec.Containers[0].ImagePullPolicy == corev1.PullAlways,
			"Secrets":     cmp.Equal(pod.Spec.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "pull"}}),
		} {
			if !is {
				t.Errorf("%s of the values: %+v", what, pod)
			}
		}
	}
	none := mustRender(t, "--set=pods.priorityClassName=")
	if class := typed[appsv1.Deployment](t, none, "Deployment "+namespace+"/statecraft-valkey").Spec.Template.Spec.PriorityClassName; class != "" {
		t.Errorf("priority %s", class)
	}
}
