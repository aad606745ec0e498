package classruntime

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/setuptest"
)

func wiring() setuptest.Wiring {
	return setuptest.Wiring{
		Area: Area(Config{}), Wakes: ClassWakes(&kube.Waker{}), Indexes: Indexes(), Lists: 1,
		Changed: []func(client.Object){func(obj client.Object) {
			obj.SetNamespace("shop")
			obj.SetName("cart")
			obj.SetLabels(map[string]string{runtimev1.ClassLabel: "cart"})
			obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(obj, runtimev1.GroupVersion.WithKind("ClassRuntime"))})
		}},
	}
}

// TestWakesGoByIndex: no event costs a list of all objects.
func TestWakesGoByIndex(t *testing.T) {
	if err := wiring().Indexed(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCachesHaveWhatWakesAndIndexesNeed(t *testing.T) {
	if err := wiring().Cached(); err != nil {
		t.Error(err)
	}
}

func newClass() *runtimev1.ClassRuntime {
	return &runtimev1.ClassRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "c1"},
		Spec: runtimev1.ClassRuntimeSpec{Functions: []runtimev1.Function{{
			Key: "add", Image: "cart-add:1", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}, Env: []corev1.EnvVar{{Name: "KEY", Value: "canary"}},
		}}},
	}
}

// TestCachesShowWhatIsOurs: everything that the area makes, and the pods that are made by it, have the label by which
// caches select; objects of others are not held.
func TestCachesShowWhatIsOurs(t *testing.T) {
	c, err := wiring().Caches()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range spec.Functions(newClass()) {
		pod := &corev1.Pod{ObjectMeta: f.Deployment.Spec.Template.ObjectMeta}
		for _, obj := range []client.Object{f.Deployment, f.Service, &autoscalingv2.HorizontalPodAutoscaler{}, &policyv1.PodDisruptionBudget{}, pod, &appsv1.ReplicaSet{ObjectMeta: pod.ObjectMeta}} {
			if !c.Shows(obj) {
				t.Errorf("%T is not cached", obj)
			}
		}
	}
	for _, other := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}, &appsv1.ReplicaSet{}, &corev1.Pod{}} {
		if c.Shows(other) {
			t.Errorf("every %T of the cluster is cached", other)
		}
	}
	if c.Check(&corev1.Secret{}) == nil {
		t.Error("Secrets are cached")
	}
}

// Of a pod there stays what is said about it, and none of its variables.
func TestPodsAreStripped(t *testing.T) {
	p := &corev1.Pod{Spec: spec.Functions(newClass())[0].Deployment.Spec.Template.Spec}
	p.Spec.NodeName = "n1"
	stripPod(p)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Contains(s, "canary") || !strings.Contains(s, "cart-add:1") || !strings.Contains(s, "n1") {
		t.Error(s)
	}
}

// Of autoscalers and budgets of other owners there stays what they scale and select.
func TestObjectsOfOthersAreStripped(t *testing.T) {
	labels := map[string]string{"app": "theirs"}
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Labels: labels}}
	h.Spec.ScaleTargetRef.Name, h.Spec.Metrics = "cart-add", []autoscalingv2.MetricSpec{{}}
	stripAutoscaler(h)
	if h.Spec.ScaleTargetRef.Name == "" || h.Spec.Metrics != nil || h.Labels != nil {
		t.Errorf("%+v", h)
	}
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Labels: labels}}
	b.Spec.Selector, b.Status.ExpectedPods = &metav1.LabelSelector{MatchLabels: labels}, 3
	stripBudget(b)
	if b.Spec.Selector == nil || b.Status.ExpectedPods != 0 || b.Labels != nil {
		t.Errorf("%+v", b)
	}
	h.Labels, h.Spec.Metrics = map[string]string{runtimev1.ClassLabel: "cart"}, []autoscalingv2.MetricSpec{{}}
	if stripAutoscaler(h); h.Spec.Metrics == nil {
		t.Error("one of ours cannot be compared with what the spec asks for")
	}
}
