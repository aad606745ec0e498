package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func is(c batchv1.JobConditionType, reason, message string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue, Reason: reason, Message: message}
}

// exited is a pod whose container ended so.
func exited(code int32, reason string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "till-x"}, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "look"}}},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "look", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: "no bill"}},
		}}},
	}
}

func TestJudge(t *testing.T) {
	const failed, succeeded, target, met = batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet
	runs, waits := Verdict{State: Running, Why: "Job till is running"}, Verdict{State: Suspended, Why: "Job till is suspended"}
	suspended := batchv1.JobSpec{Suspend: ptr.To(true)}
	lost := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "till-x"}, Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}}
	for name, tc := range map[string]struct {
		spec   batchv1.JobSpec
		status batchv1.JobStatus
		pods   []corev1.Pod
		want   Verdict
	}{
		"it is new":                        {want: runs},
		"it has a pod":                     {status: batchv1.JobStatus{Active: 1}, want: runs},
		"it is not let":                    {spec: suspended, want: waits},
		"it was stopped, and its pod runs": {spec: suspended, status: batchv1.JobStatus{Active: 1}, want: runs},
		"it was stopped, and its pod terminates": {
			spec: suspended, status: batchv1.JobStatus{Terminating: ptr.To[int32](1)},
			want: runs,
		},
		"it was stopped, and its pod is gone": {
			spec: suspended, status: batchv1.JobStatus{Terminating: ptr.To[int32](0)},
			want: waits,
		},
		"it is done": {
			status: ends(is(succeeded, "CompletionsReached", "m")),
			want:   Verdict{State: Succeeded, Reason: "CompletionsReached", Why: "Job till succeeded"},
		},
		"it is done, and was about to": {
			status: ends(is(met, "CompletionsReached", "m"), is(succeeded, "CompletionsReached", "m")),
			want:   Verdict{State: Succeeded, Reason: "CompletionsReached", Why: "Job till succeeded"},
		},
		"a condition that is false says nothing": {
			status: ends(batchv1.JobCondition{Type: failed, Status: corev1.ConditionFalse}),
			want:   runs,
		},
		"suspended is no end": {
			status: ends(is(batchv1.JobSuspended, "JobSuspended", "m")),
			want:   runs,
		},
		"it will be done when its pod is": {
			status: ends(is(met, "SuccessPolicy", "m")),
			want: Verdict{State: Ending, Will: Succeeded, Reason: "SuccessPolicy",
				Why: "Job till has succeeded, and waits for its pods to terminate: SuccessPolicy: m"},
		},
		"it was late, and its node is silent": {
			status: ends(is(target, "DeadlineExceeded", "too long")),
			want: Verdict{State: Ending, Will: Failed, Reason: "DeadlineExceeded",
				Why: "Job till has failed, and waits for its pods to terminate: DeadlineExceeded: too long"},
		},
		"it was late": {
			status: ends(is(target, "DeadlineExceeded", "too long"), is(failed, "DeadlineExceeded", "too long")),
			want: Verdict{State: Failed, Reason: "DeadlineExceeded",
				Why: "Job till failed: DeadlineExceeded: too long"},
		},
		"its container failed": {
			status: ends(is(failed, "BackoffLimitExceeded", "")),
			pods:   []corev1.Pod{exited(137, "OOMKilled")},
			want: Verdict{State: Failed, Reason: "BackoffLimitExceeded",
				Why: "Job till failed: BackoffLimitExceeded (container look of pod till-x exited with 137, OOMKilled)"},
		},
		"a policy ended it": {
			status: ends(is(failed, "PodFailurePolicy", "rule 0")),
			pods:   []corev1.Pod{exited(42, "")},
			want: Verdict{State: Failed, Reason: "PodFailurePolicy",
				Why: "Job till failed: PodFailurePolicy: rule 0 (container look of pod till-x exited with 42)"},
		},
		"its pod was evicted": {
			status: ends(is(failed, "BackoffLimitExceeded", "")),
			pods:   []corev1.Pod{lost},
			want: Verdict{State: Failed, Reason: "BackoffLimitExceeded",
				Why: "Job till failed: BackoffLimitExceeded (pod till-x failed, Evicted)"},
		},
		"a success does not tell of earlier pods": {
			status: ends(is(succeeded, "", "")),
			pods:   []corev1.Pod{exited(1, "Error")},
			want:   Verdict{State: Succeeded, Why: "Job till succeeded"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "till"}, Spec: tc.spec, Status: tc.status}
			got := Judge(j, tc.pods)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if over := got.State == Succeeded || got.State == Failed; got.Over() != over {
				t.Errorf("over %t", got.Over())
			}
		})
	}
}

func ends(conditions ...batchv1.JobCondition) batchv1.JobStatus {
	return batchv1.JobStatus{Conditions: conditions}
}

func TestAJobThatRunsSaysWhyItsPodDoesNot(t *testing.T) {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "till"}, Status: batchv1.JobStatus{Active: 1}}
	waits := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "till-x"}}
	waits.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	v := Judge(j, []corev1.Pod{waits, {}})
	if v.State != Running || !strings.HasPrefix(v.Why, "Job till is running: No node takes pod till-x") {
		t.Errorf("%+v", v)
	}
}
