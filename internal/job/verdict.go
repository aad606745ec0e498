package job

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/podstate/diagnosis"
)

// State is how far a Job is.
type State string

// The states of a Job.
const (
	Suspended State = "Suspended" // it has no pod, and makes none
	Running   State = "Running"
	Ending    State = "Ending" // how it ends is decided; its pods are still terminating
	Succeeded State = "Succeeded"
	Failed    State = "Failed"
)

// Verdict is what a Job and its pods say.
type Verdict struct {
	State State
	// Will is how a Job ends that is Ending: Succeeded or Failed.
	Will State
	// Reason is that of the Job's condition, for example DeadlineExceeded; "" if it has none.
	Reason string
	// Why says it in words for a status.
	Why string
}

// Over says that the Job changes nothing any more: no pod of it runs or will.
func (v Verdict) Over() bool { return v.State == Succeeded || v.State == Failed }

// Judge reads the verdict from the conditions of a Job. A Job whose pod is on a silent node
// stays Ending until the pod is gone. Pods add words only: how they ended, and why they do not run.
func Judge(j *batchv1.Job, pods []corev1.Pod) Verdict {
	for _, end := range []struct {
		by          batchv1.JobConditionType
		state, will State
	}{
		{batchv1.JobFailed, Failed, ""},
		{batchv1.JobComplete, Succeeded, ""},
		{batchv1.JobFailureTarget, Ending, Failed},
		{batchv1.JobSuccessCriteriaMet, Ending, Succeeded},
	} {
		if c := condition(j, end.by); c != nil {
			v := Verdict{State: end.state, Will: end.will, Reason: c.Reason}
			v.Why = told(j, pods, v, c.Message)
			return v
		}
	}
	if isSuspended(j) {
		return Verdict{State: Suspended, Why: fmt.Sprintf("Job %s is suspended", j.Name)}
	}
	v := Verdict{State: Running, Why: fmt.Sprintf("Job %s is running", j.Name)}
	for i := range pods {
		if why := diagnosis.Words(&pods[i]); why != "" {
			v.Why = fmt.Sprintf("Job %s is running: %s", j.Name, why)
		}
	}
	return v
}

// isSuspended says that the Job has no pod. While those of a Job that was stopped in the middle
// terminate, it runs.
func isSuspended(j *batchv1.Job) bool {
	s := j.Status
	return j.Spec.Suspend != nil && *j.Spec.Suspend && s.Active == 0 && (s.Terminating == nil || *s.Terminating == 0)
}

func condition(j *batchv1.Job, is batchv1.JobConditionType) *batchv1.JobCondition {
	for i, c := range j.Status.Conditions {
		if c.Type == is && c.Status == corev1.ConditionTrue {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

var verbs = map[State]string{Succeeded: "succeeded", Failed: "failed"}

// told is the verdict in words: what the Job says, and how containers of its pods ended.
func told(j *batchv1.Job, pods []corev1.Pod, v Verdict, message string) string {
	words := fmt.Sprintf("Job %s %s", j.Name, verbs[v.State])
	if v.State == Ending {
		words = fmt.Sprintf("Job %s has %s, and waits for its pods to terminate", j.Name, verbs[v.Will])
	}
	if v.State == Succeeded {
		return words
	}
	for _, more := range []string{v.Reason, message} {
		if more != "" {
			words += ": " + more
		}
	}
	var ends []string
	for i := range pods {
		if end := failure(&pods[i]); end != "" {
			ends = append(ends, end)
		}
	}
	if v.Will != Succeeded && len(ends) > 0 {
		words += " (" + strings.Join(ends[:min(len(ends), mostEnds)], "; ") + ")"
	}
	return words
}

// mostEnds is how many pods words tell of: a status is read by people.
const mostEnds = 3
