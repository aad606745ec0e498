package observe

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

func at(seconds int64) metav1.Time { return metav1.NewTime(time.Unix(seconds, 0)) }

func TestRollout(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 3}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(2))}}
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 3, Replicas: 3, UpdatedReplicas: 2, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentReplicaFailure, Status: "True", LastTransitionTime: at(9), Message: `pods "cart-add-5d-x8k" is forbidden: exceeded quota: small, requested: pods=1`},
			{Type: appsv1.DeploymentProgressing, Status: "False", Reason: "ProgressDeadlineExceeded"},
		},
	}
	want := class.Rollout{Seen: true, Desired: 2, Total: 3, Updated: 2, Ready: 1, Available: 1, Stuck: true, Refused: "exceeded quota: small, requested: pods=1", RefusedSince: 9}
	if diff := cmp.Diff(want, rollout(d)); diff != "" {
		t.Error(diff)
	}
	d.Spec.Paused = true
	d.Generation, d.Status.Conditions = 4, []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: "True", Reason: "NewReplicaSetAvailable"}}
	if r := rollout(d); r.Seen || r.Stuck || !r.Paused || r.Refused != "" {
		t.Errorf("%+v", r)
	}
}

func TestPods(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: at(10)}}
	if diff := cmp.Diff(class.Pod{Name: "a", Since: 10}, podOf(p)); diff != "" {
		t.Error(diff)
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: "True", LastTransitionTime: at(20)}}
	ended := func(restarts int32, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "function", RestartCount: restarts, LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: at(11), FinishedAt: at(12)},
		}}
	}
	often := ended(4, 3)
	often.Name = "sidecar"
	p.Status.ContainerStatuses = []corev1.ContainerStatus{ended(1, 2), often}
	want := class.Pod{Name: "a", Ready: true, Since: 20, Crash: class.Crash{Container: "sidecar", Restarts: 4, Started: 11, Ended: 12, Exit: 3}}
	if diff := cmp.Diff(want, podOf(p)); diff != "" {
		t.Error(diff)
	}
	p.DeletionTimestamp, p.Status.Phase = &metav1.Time{}, corev1.PodFailed
	if is := podOf(p); !is.Leaving || !is.Ended {
		t.Errorf("%+v", is)
	}
}

// A container that was restarted often long ago does not hide one that crashes now.
func TestWhichContainerCrashes(t *testing.T) {
	status := func(name string, restarts int32, ended int64) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, RestartCount: restarts, LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{StartedAt: at(ended - 1), FinishedAt: at(ended)},
		}}
	}
	for what, c := range map[string]struct {
		of   []corev1.ContainerStatus
		want string
	}{
		"it was restarted more often, long ago":  {[]corev1.ContainerStatus{status("sidecar", 30, 100), status("function", 3, 900)}, "function"},
		"in the other order":                     {[]corev1.ContainerStatus{status("function", 3, 900), status("sidecar", 30, 100)}, "function"},
		"one that ended last was restarted once": {[]corev1.ContainerStatus{status("function", 3, 900), status("sidecar", 1, 950)}, "function"},
		"and came first":                         {[]corev1.ContainerStatus{status("sidecar", 1, 950), status("function", 3, 900)}, "function"},
		"neither was restarted often":            {[]corev1.ContainerStatus{status("sidecar", 1, 950), status("function", 2, 900)}, "function"},
		"none was restarted":                     {[]corev1.ContainerStatus{status("function", 0, 900)}, ""},
	} {
		p := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: c.of}}
		if got := crashOf(p); got.Container != c.want {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// Replicas have owners of their own: they are no edit. What the spec asks for is not written to.
func TestReplicasAreNoEdit(t *testing.T) {
	want := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(2)), MinReadySeconds: 5}}
	live := want.DeepCopy()
	live.Spec.Replicas = ptr.To(int32(5))
	if fields, err := child.Differs(withoutReplicas(want), live); err != nil || len(fields) > 0 {
		t.Errorf("differs in %s: %v", child.Names(fields), err)
	}
	live.Spec.MinReadySeconds = 7
	if fields, err := child.Differs(withoutReplicas(want), live); err != nil || child.Names(fields) != ".spec.minReadySeconds" {
		t.Errorf("differs in %s: %v", child.Names(fields), err)
	}
	if *want.Spec.Replicas != 2 {
		t.Error("what the spec asks for was written to")
	}
}

// An autoscaler says by a condition that it does not scale.
func TestBlindness(t *testing.T) {
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	if is := blindness(h); is != "" {
		t.Errorf("one that says nothing yet: %q", is)
	}
	h.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
		{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionFalse, Message: "no"},
		{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Message: "no metrics are known"},
	}
	if is := blindness(h); is != "no metrics are known" {
		t.Errorf("%q", is)
	}
	h.Status.Conditions[1].Status = corev1.ConditionTrue
	if is := blindness(h); is != "" {
		t.Errorf("%q", is)
	}
}

// shelf is a cache that holds budgets.
type shelf []policyv1.PodDisruptionBudget

func (shelf) Get(context.Context, read.Key, client.Object, ...client.GetOption) error { return nil }

func (s shelf) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*policyv1.PodDisruptionBudgetList).Items = s
	return nil
}

// Pods that a budget of another owner selects get no second one, and others keep theirs.
func TestNoSecondBudget(t *testing.T) {
	c := &runtimev1.ClassRuntime{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "c1"}}
	for _, key := range []string{"add", "total"} {
		c.Spec.Functions = append(c.Spec.Functions, runtimev1.Function{Key: key, Image: key, Replicas: ptr.To(int32(2))})
	}
	ours := *spec.Functions(c)[1].Budget
	theirs := policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{runtimev1.FunctionLabel: "add"}}}}
	functions := spec.Functions(c)
	if err := (Class{Cached: shelf{ours, theirs, {}}}).withoutDouble(t.Context(), c, functions); err != nil {
		t.Fatal(err)
	}
	if functions[0].Budget != nil || functions[1].Budget == nil {
		t.Errorf("add has a budget: %t, total has one: %t", functions[0].Budget != nil, functions[1].Budget != nil)
	}
}
