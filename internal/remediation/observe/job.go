package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/job"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// job reads the Job of an execution live, and what its pod said.
func (o Execution) job(ctx context.Context, x *remediationv1.KubernetesExecution) (execution.Job, error) {
	var made batchv1.Job
	ours := func(j *batchv1.Job) bool {
		ref := metav1.GetControllerOf(j)
		return ref != nil && ref.UID == x.UID && (x.Status.JobUID == "" || j.UID == x.Status.JobUID)
	}
	sight, err := read.Find(ctx, o.Live, read.Key{Namespace: x.Namespace, Name: execution.JobName(x.UID)}, &made, ours)
	if err == nil && sight == presence.Gone { // its pods may have outlived it
		made.Namespace = x.Namespace
		made.UID, err = o.formerJob(ctx, x)
	}
	if err != nil {
		return execution.Job{}, err
	}
	seen := execution.Job{Sight: sight, Why: fmt.Sprintf("Job %s is gone", execution.JobName(x.UID))}
	if sight == presence.Other || made.UID == "" {
		return seen, nil
	}
	pods, err := o.Live.PodsOf(ctx, &made)
	if err != nil {
		return execution.Job{}, err
	}
	ask(&seen, x, &made, pods)
	return seen, nil
}

// ask takes down what the pods of a Job say, and the Job itself if it is there.
func ask(seen *execution.Job, x *remediationv1.KubernetesExecution, made *batchv1.Job, pods []corev1.Pod) {
	seen.Pods = len(pods) > 0
	witnesses := witnessesOf(x, made, pods)
	heard(seen, witnesses, pods)
	if seen.PodRuns = !allEnded(pods); seen.PodRuns {
		seen.Why += ", and its pod has not ended"
	}
	if seen.Sight == presence.Here {
		judged(seen, made, pods)
		seen.Succeeded = seen.Succeeded && len(witnesses) == len(pods) // another pod may have ended the Job
	}
}

// formerJob is the UID of a Job that is gone. If the status was lost that named it, a pod may still name its Job.
func (o Execution) formerJob(ctx context.Context, x *remediationv1.KubernetesExecution) (types.UID, error) {
	lost := x.Status.Plan == nil && x.Annotations[remediationv1.BegunAnnotation] == string(x.UID)
	if x.Status.JobUID != "" || !lost {
		return x.Status.JobUID, nil
	}
	var pods corev1.PodList
	name := execution.JobName(x.UID)
	if err := o.Live.List(ctx, &pods, read.InNamespace(x.Namespace), read.Labels{batchv1.JobNameLabel: name}); err != nil {
		return "", fmt.Errorf("list pods of job %s: %w", name, err)
	}
	for i := range pods.Items {
		if by := metav1.GetControllerOf(&pods.Items[i]); by != nil && by.Kind == "Job" && by.Name == name {
			return by.UID, nil
		}
	}
	return "", nil
}

// heard is what the pods of a Job say: a witness by its report, and all of them together by never having started.
func heard(seen *execution.Job, witnesses, all []corev1.Pod) {
	seen.Report = reportOf(witnesses, all)
	seen.NeverStarted = len(all) > 0 && len(witnesses) == len(all) && allNeverStarted(all)
}

// judged is what the Job itself says.
func judged(seen *execution.Job, made *batchv1.Job, pods []corev1.Pod) {
	v := job.Judge(made, pods)
	seen.UID, seen.ResourceVersion = made.UID, made.ResourceVersion
	seen.Suspended = v.State == job.Suspended && len(pods) == 0 && isAsMade(made)
	seen.Over, seen.Succeeded, seen.Why = v.Over(), v.State == job.Succeeded, strings.TrimRight(v.Why, ".")
	seen.TimedOut = v.Reason == batchv1.JobReasonDeadlineExceeded
	if made.Status.StartTime != nil {
		seen.StartedAt = *made.Status.StartTime
	}
}

// isAsMade says that the spec of a Job was never changed: one that was released and suspended again may have run, also if its pod
// is gone. To begin a deletion counts as a change.
func isAsMade(made *batchv1.Job) bool {
	changes := made.Generation - 1
	if made.DeletionTimestamp != nil {
		changes--
	}
	return changes <= 0
}

// allEnded says that no pod will do anything more.
func allEnded(pods []corev1.Pod) bool {
	return !slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
	})
}

func allNeverStarted(pods []corev1.Pod) bool {
	for i := range pods {
		if !job.NeverStarted(&pods[i]) {
			return false
		}
	}
	return true
}

// reportOf is what the action said as it ended. Kubernetes may start the program of a Job twice, whatever the Job says: that one
// pod changed the target is so whatever another says, and that nothing was changed only if no other may have done it.
func reportOf(witnesses, all []corev1.Pod) (word *execution.Report) {
	harmless := 0
	for i := range witnesses {
		switch said := saidBy(&witnesses[i]); {
		case said == nil:
		case said.Effect == remediationv1.EffectApplied:
			return said
		default:
			word = said
			harmless++
		}
	}
	for i := range all {
		if job.NeverStarted(&all[i]) {
			harmless++
		}
	}
	if harmless < len(all) {
		return nil
	}
	return word
}

// saidBy is what one pod said as it ended. What cannot be read says nothing.
func saidBy(pod *corev1.Pod) *execution.Report {
	message, ended := job.Message(pod, remediationv1.ActionContainer)
	if !ended || message == "" || job.NeverStarted(pod) {
		return nil
	}
	r, err := action.ParseReport([]byte(message))
	if err != nil || !slices.Contains([]remediationv1.Effect{remediationv1.EffectApplied, remediationv1.EffectNotApplied}, r.Effect) {
		return nil
	}
	return &execution.Report{
		Effect: r.Effect, Reason: fsm.Reason(r.Reason), Message: r.Error, Warnings: r.Warnings,
		Affected: r.Affected, Resources: r.Resources, After: r.After,
	}
}

// witnessesOf are the pods whose word counts: the Job made them, and they run as the account of the action. Others may still
// write, so they are not left out of anything else.
func witnessesOf(x *remediationv1.KubernetesExecution, made *batchv1.Job, pods []corev1.Pod) (all []corev1.Pod) {
	for _, pod := range pods {
		by := metav1.GetControllerOf(&pod)
		if by != nil && by.UID == made.UID && by.Kind == "Job" && pod.Spec.ServiceAccountName == execution.DefinitionAccount(x.Spec.Action) {
			all = append(all, pod)
		}
	}
	return all
}
