package remediation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/perform"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// counter is the ConfigMap that counts effects, by execution.
const counter = "effects"

// nodeTakes is how long each of them takes for the next thing it does.
const nodeTakes = time.Second

// node plays all who run a Job: the job controller, the scheduler, the kubelet, and statecraft-action in the pod.
type node struct {
	story   *story
	world   *sim.World
	due     map[types.UID]time.Time // Jobs: when something is to be done about them
	runs    map[types.UID]*run      // Jobs that were seen released
	effects map[types.UID]int       // executions: how often the target was changed
}

// run is how far a Job is that was released.
type run struct {
	job    *batchv1.Job // as it was last seen
	gone   bool         // and its pod goes on
	step   int
	report action.Report
}

func newNode(s *story) *node {
	return &node{story: s, world: s.world, due: map[types.UID]time.Time{}, runs: map[types.UID]*run{}, effects: map[types.UID]int{}}
}

// meanwhile does what is due about one Job.
func (n *node) meanwhile(ctx context.Context) (changed bool, next time.Time, err error) {
	now := n.world.Now()
	for _, job := range n.released() {
		r := n.runs[job.UID]
		if r.step == len(steps) {
			continue
		}
		if r.gone && r.step == len(steps)-1 {
			if changed, err := n.leave(ctx, r); changed || err != nil {
				return changed, time.Time{}, err
			}
			continue
		}
		if due := n.due[job.UID]; now.Before(due) {
			if next.IsZero() || due.Before(next) {
				next = due
			}
			continue
		}
		n.due[job.UID] = now.Add(nodeTakes)
		r.step++
		return true, time.Time{}, steps[r.step-1](n, ctx, job.DeepCopy(), r)
	}
	return false, next, nil
}

// released are the Jobs that may run, and those that are gone while their pods are there, in the order of their names.
func (n *node) released() (jobs []*batchv1.Job) {
	for _, r := range n.runs {
		r.gone = true
	}
	for _, obj := range n.world.Shown(jobKind) {
		job := obj.(*batchv1.Job)
		if n.runs[job.UID] == nil && !ptr.Deref(job.Spec.Suspend, false) {
			n.runs[job.UID], n.due[job.UID] = &run{}, n.world.Now().Add(nodeTakes)
		}
		if r := n.runs[job.UID]; r != nil && job.DeletionTimestamp == nil {
			r.job, r.gone = job, false
		}
	}
	for _, r := range n.runs {
		if r.job != nil && (!r.gone || n.pod(r.job) != nil) {
			jobs = append(jobs, r.job)
		}
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return strings.Compare(a.Name, b.Name) })
	return jobs
}

// leave lets a pod go that has ended and whose Job is gone: the collector deletes it, its finalizer is taken off, and then its
// kubelet says that nothing of it is left.
func (n *node) leave(ctx context.Context, r *run) (changed bool, err error) {
	news, err := n.world.Sync(ctx, podKind)
	pod := n.pod(r.job)
	if err != nil || pod == nil || pod.DeletionTimestamp == nil || len(pod.Finalizers) > 0 {
		return news > 0, err
	}
	return true, client.IgnoreNotFound(n.world.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)))
}

// steps are what becomes of a Job that was released, one after the other.
var steps = []func(*node, context.Context, *batchv1.Job, *run) error{
	(*node).accept, (*node).createPod, (*node).startPod, (*node).act, (*node).endPod, (*node).endJob,
}

// accept is what the job controller writes before it makes a pod.
func (n *node) accept(ctx context.Context, job *batchv1.Job, _ *run) error {
	job.Status.StartTime = n.now()
	return n.world.Client.Status().Update(ctx, job)
}

func (n *node) now() *metav1.Time { return &metav1.Time{Time: n.world.Now().Truncate(time.Second)} }

func (n *node) createPod(ctx context.Context, job *batchv1.Job, _ *run) error {
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = job.Namespace, podName(job)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.ControllerUidLabel, string(job.UID))
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, jobKind)}
	pod.Spec.NodeName = "node-1"
	if err := n.world.Client.Create(ctx, pod); err != nil {
		return fmt.Errorf("make pod: %w", err)
	}
	job.Status.Active = 1
	return n.world.Client.Status().Update(ctx, job)
}

func podName(job *batchv1.Job) string { return job.Name + "-pod" }

func (n *node) startPod(ctx context.Context, job *batchv1.Job, _ *run) error {
	return n.report(ctx, job, corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *n.now()}})
}

// report is what a kubelet says about the only container of the pod.
func (n *node) report(ctx context.Context, job *batchv1.Job, phase corev1.PodPhase, state corev1.ContainerState) error {
	pod := n.pod(job)
	if pod == nil {
		return nil
	}
	was := pod.DeepCopy()
	pod.Status.Phase = phase
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: remediationv1.ActionContainer, State: state, ContainerID: "sim://1", Image: "action"}}
	return n.world.Client.Status().Patch(ctx, pod, client.MergeFrom(was))
}

func (n *node) pod(job *batchv1.Job) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: podName(job)}}
	if !n.world.Find(pod) {
		return nil
	}
	return pod
}

// act is what the program in the pod does: the very code of it.
func (n *node) act(ctx context.Context, job *batchv1.Job, r *run) error {
	name := job.Annotations[remediationv1.ExecutionLabel]
	if err := n.story.happens(ctx, name, beforeEffect); err != nil {
		return err
	}
	pod := n.pod(job)
	if pod == nil {
		return nil
	}
	command, err := action.ParseArguments(pod.Spec.Containers[0].Args)
	if err != nil {
		return fmt.Errorf("read arguments: %w", err)
	}
	r.report = perform.Perform(ctx, object{n, command}, command, perform.Usual)
	return n.story.happens(ctx, name, afterEffect)
}

func (n *node) endPod(ctx context.Context, job *batchv1.Job, r *run) error {
	phase, code := corev1.PodFailed, int32(1)
	if r.report.Effect == remediationv1.EffectApplied {
		phase, code = corev1.PodSucceeded, 0
	}
	return n.report(ctx, job, phase, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Message: string(r.report.JSON()), StartedAt: *n.now(), FinishedAt: *n.now(), ContainerID: "sim://1",
	}})
}

func (n *node) endJob(ctx context.Context, job *batchv1.Job, r *run) error {
	ends := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	job.Status.Active = 0
	if r.report.Effect == remediationv1.EffectApplied {
		ends = []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
		job.Status.Succeeded, job.Status.CompletionTime = 1, n.now()
	} else {
		job.Status.Failed = 1
	}
	for _, is := range ends {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: is, Status: corev1.ConditionTrue, LastTransitionTime: *n.now()})
	}
	return n.world.Client.Status().Update(ctx, job)
}

// changes sees that a change of the target by an execution is what was approved. A second one is what all of this is to
// prevent, whatever it changes.
func (n *node) changes(from map[string]any, c action.Command) {
	x := n.story.of(c.Execution)
	if x == nil || x.Status.Plan == nil {
		return // its status was lost; the counter tells
	}
	is, err := action.ReadOf(c.Action, from, c.Parameters)
	if err != nil || is.Hash != x.Status.Plan.Footprint || n.story.asks && !n.story.approved[x.Status.Plan.Digest] && x.Spec.RollbackOf == nil {
		n.world.Diverge("execution %s changed a target that is not what was approved: %+v, %v", x.Name, is.Values, err)
	}
}

// changed counts a change of the target by an execution.
func (n *node) changed(ctx context.Context, by types.UID) error {
	n.effects[by]++
	if n.effects[by] > 1 {
		n.world.Diverge("the effect of execution %s happened %d times", by, n.effects[by])
	}
	counts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: n.world.Namespace, Name: counter}}
	if !n.world.Find(counts) {
		return fmt.Errorf("the counter is gone")
	}
	if counts.Data == nil {
		counts.Data = map[string]string{}
	}
	name := string(by)
	if x := n.story.of(by); x != nil {
		name = x.Name
	}
	counts.Data[name] = strconv.Itoa(n.effects[by])
	return n.world.Client.Update(ctx, counts)
}
