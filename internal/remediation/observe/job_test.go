package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// podOf is a pod that reports that the target was changed.
func podOf(name, account string, job types.UID) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Labels: map[string]string{batchv1.ControllerUidLabel: "job"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: job, Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{ServiceAccountName: account, NodeName: "node-1", Containers: []corev1.Container{{Name: remediationv1.ActionContainer}}},
		Status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
			Name: remediationv1.ActionContainer, ContainerID: "c1",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: string(action.Report{Token: "x1", Effect: remediationv1.EffectApplied, Affected: 1}.JSON())}},
		}}},
	}
}

// neverStarted is a pod of which the kubelet says that nothing of it ever ran.
func neverStarted(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase, pod.Status.ContainerStatuses[0].ContainerID = corev1.PodFailed, ""
	pod.Status.ContainerStatuses[0].State.Terminated.Message = ""
	return pod
}

// refusing is a pod that reports that it changed nothing.
func refusing(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses[0].State.Terminated.Message = string(action.Report{Effect: remediationv1.EffectNotApplied, Reason: action.ReasonFailed}.JSON())
	return pod
}

// silent is a pod that ended without a word, running one that has not ended.
func silent(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase, pod.Status.ContainerStatuses[0].State.Terminated.Message = corev1.PodFailed, ""
	return pod
}

func running(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase, pod.Status.ContainerStatuses[0].State = corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	return pod
}

// TestTwoPodsOfAJob: Kubernetes may start the program of a Job twice. What one pod says of itself is not what the other did.
func TestTwoPodsOfAJob(t *testing.T) {
	const account = "statecraft-action-scale-deployment"
	for name, tc := range map[string]struct {
		first, second func(*corev1.Pod) *corev1.Pod
		want          remediationv1.Effect // "" is that nothing is known yet
	}{
		"the second changed the target":           {refusing, func(p *corev1.Pod) *corev1.Pod { return p }, remediationv1.EffectApplied},
		"the first changed the target":            {func(p *corev1.Pod) *corev1.Pod { return p }, refusing, remediationv1.EffectApplied},
		"neither did":                             {refusing, refusing, remediationv1.EffectNotApplied},
		"one did not, and the other never ran":    {neverStarted, refusing, remediationv1.EffectNotApplied},
		"one did not, and the other still runs":   {refusing, running, ""},
		"one did not, and the other says nothing": {silent, refusing, ""},
	} {
		pods := []*corev1.Pod{tc.first(podOf("a", account, "job")), tc.second(podOf("b", account, "job"))}
		o := Execution{Live: read.Live{Reader: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(pods[0], pods[1]).Build()}}
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
		x.Spec.Action, x.Status.JobUID, x.Status.Phase = "scale_deployment", "job", execution.Executing
		j, err := o.job(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		effect := remediationv1.Effect("")
		if j.Report != nil {
			effect = j.Report.Effect
		}
		if effect != tc.want {
			t.Errorf("%s: %q, want %q", name, effect, tc.want)
		}
	}
}

// TestWitnesses are pods that the Job made and that run as the account of the action. A pod that is no witness may still write,
// so it is not left out otherwise.
func TestWitnesses(t *testing.T) {
	const account = "statecraft-action-scale-deployment"
	type seen struct{ Report, NeverStarted, Pods bool }
	for name, tc := range map[string]struct {
		pods []*corev1.Pod
		want seen
	}{
		"the pod of the action":                {[]*corev1.Pod{podOf("a", account, "job")}, seen{Report: true, Pods: true}},
		"a pod of another account":             {[]*corev1.Pod{podOf("a", "default", "job")}, seen{Pods: true}},
		"a pod without an account":             {[]*corev1.Pod{podOf("a", "", "job")}, seen{Pods: true}},
		"a pod of another Job":                 {[]*corev1.Pod{podOf("a", account, "another")}, seen{}},
		"a stranger before it":                 {[]*corev1.Pod{podOf("a", "default", "job"), podOf("b", account, "job")}, seen{Report: true, Pods: true}},
		"the pod never started":                {[]*corev1.Pod{neverStarted(podOf("a", account, "job"))}, seen{NeverStarted: true, Pods: true}},
		"a stranger never started":             {[]*corev1.Pod{neverStarted(podOf("a", "default", "job"))}, seen{Pods: true}},
		"it never started beside one that may": {[]*corev1.Pod{neverStarted(podOf("a", account, "job")), neverStarted(podOf("b", "default", "job"))}, seen{Pods: true}},
	} {
		b := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme)
		for _, pod := range tc.pods {
			b.WithObjects(pod)
		}
		o := Execution{Live: read.Live{Reader: b.Build()}}
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
		x.Spec.Action, x.Status.JobUID, x.Status.Phase = "scale_deployment", "job", execution.Executing
		j, err := o.job(t.Context(), x)
		if diff := cmp.Diff(tc.want, seen{j.Report != nil, j.NeverStarted, j.Pods}); diff != "" || err != nil {
			t.Errorf("%s: %s, %v", name, diff, err)
		}
	}
}

// TestAPodSurvivesJobAndStatus: the Job is gone, and with it the status that named it. Its pod is still there, and is asked.
func TestAPodSurvivesJobAndStatus(t *testing.T) {
	const account = "statecraft-action-scale-deployment"
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
	x.Spec.Action, x.Status.Phase = "scale_deployment", execution.Executing
	named := func(job string) *corev1.Pod {
		pod := podOf("a", account, "job")
		pod.Labels[batchv1.JobNameLabel], pod.OwnerReferences[0].Name = job, job
		return pod
	}
	for name, tc := range map[string]struct {
		begun bool
		pod   *corev1.Pod
		want  bool
	}{
		"its pod":                    {true, named(execution.JobName("x1")), true},
		"the pod of another":         {true, named(execution.JobName("x2")), false},
		"an execution not yet begun": {false, named(execution.JobName("x1")), false},
	} {
		x.Annotations = map[string]string{}
		if tc.begun {
			x.Annotations[remediationv1.BegunAnnotation] = "x1"
		}
		o := Execution{Live: read.Live{Reader: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(tc.pod).Build()}}
		j, err := o.job(t.Context(), x)
		if heard := j.Report != nil && j.Pods; heard != tc.want || err != nil {
			t.Errorf("%s: asked %t, want %t, %v", name, heard, tc.want, err)
		}
	}
}

// TestAPodOfAnotherEndsNoJob: a Job has succeeded by the word of its own pods. What another pod did to its count says nothing.
func TestAPodOfAnotherEndsNoJob(t *testing.T) {
	for account, want := range map[string]bool{"statecraft-action-scale-deployment": true, "default": false} {
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
		x.Spec.Action, x.Status.JobUID, x.Status.Phase = "scale_deployment", "job", execution.Executing
		made := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: execution.JobName("x1"), UID: "job",
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(x, remediationv1.GroupVersion.WithKind("KubernetesExecution"))},
			},
			Status: batchv1.JobStatus{Succeeded: 1, Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}},
		}
		c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(made, podOf("a", account, "job")).Build()
		j, err := Execution{Live: read.Live{Reader: c}}.job(t.Context(), x)
		if err != nil || !j.Over || j.Succeeded != want {
			t.Errorf("%s: over %t, succeeded %t, %v", account, j.Over, j.Succeeded, err)
		}
	}
}

// TestAJobIsReleasedOnce: an administrator suspends a Job that ran, and its pod is gone. To release it again would do the action again.
func TestAJobIsReleasedOnce(t *testing.T) {
	type is struct {
		generation int64
		deleted    bool
	}
	for j, want := range map[is]bool{{1, false}: true, {2, false}: false, {3, false}: false, {2, true}: true, {4, true}: false} {
		x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
		x.Spec.Action, x.Status.JobUID, x.Status.Phase = "scale_deployment", "job", execution.Executing
		made := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: execution.JobName("x1"), UID: "job", Generation: j.generation,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(x, remediationv1.GroupVersion.WithKind("KubernetesExecution"))},
			},
			Spec: batchv1.JobSpec{Suspend: ptr.To(true)},
		}
		if j.deleted {
			made.DeletionTimestamp, made.Finalizers = &metav1.Time{Time: at}, []string{metav1.FinalizerDeleteDependents}
		}
		seen, err := Execution{Live: read.Live{Reader: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(made).Build()}}.job(t.Context(), x)
		if err != nil || seen.Over || seen.Suspended != want {
			t.Errorf("%+v: suspended %t, %v", j, seen.Suspended, err)
		}
	}
}
