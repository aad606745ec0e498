package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// Sweeper does what an execution that has ended, or is gone, cannot do any more: it lets its pods go, and deletes a
// Job of it that was never released.
type Sweeper struct {
	Writer kube.Writer
	Cached read.Reader
	Live   read.Live
}

// Sweep looks through all Jobs and pods of actions once.
func (s Sweeper) Sweep(ctx context.Context) error {
	var pods corev1.PodList
	if err := s.Cached.List(ctx, &pods); err != nil {
		return fmt.Errorf("list pods of actions: %w", err)
	}
	var errs []error
	for i := range pods.Items {
		errs = append(errs, s.letGo(ctx, &pods.Items[i]))
	}
	var jobs batchv1.JobList
	if err := s.Cached.List(ctx, &jobs); err != nil {
		return errors.Join(append(errs, fmt.Errorf("list jobs of actions: %w", err))...)
	}
	for i := range jobs.Items {
		errs = append(errs, s.drop(ctx, &jobs.Items[i]))
	}
	return errors.Join(errs...)
}

// letGo takes the finalizer off a pod whose report is saved, or that no execution waits for. What would be lost is the only
// witness of an action, so the execution is read live.
func (s Sweeper) letGo(ctx context.Context, pod *corev1.Pod) error {
	if !slices.Contains(pod.Finalizers, remediationv1.ResultFinalizer) {
		return nil
	}
	over, err := s.isOver(ctx, pod.Namespace, types.UID(pod.Labels[remediationv1.ExecutionLabel]), pod.Annotations)
	if err != nil || !over {
		return err
	}
	next := pod.DeepCopy()
	next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool { return f == remediationv1.ResultFinalizer })
	return s.Writer.Patch(ctx, pod, next)
}

// drop deletes a suspended Job whose execution has ended: the manager will not release it, and users may not delete it. What
// would be lost is the Job, so it must bear the name that admission lets no user give: users label their own as they like.
func (s Sweeper) drop(ctx context.Context, job *batchv1.Job) error {
	if !ptr.Deref(job.Spec.Suspend, false) || job.DeletionTimestamp != nil {
		return nil
	}
	uid := types.UID(job.Labels[remediationv1.ExecutionLabel])
	if job.Name != execution.JobName(uid) {
		return nil
	}
	over, err := s.isOver(ctx, job.Namespace, uid, job.Annotations)
	if err != nil || !over {
		return err
	}
	return s.Writer.Delete(ctx, job, kube.SeenOf(job))
}

// isOver says that the execution of this UID has ended or is gone, by a live read, or has saved its result.
func (s Sweeper) isOver(ctx context.Context, namespace string, uid types.UID, annotations map[string]string) (bool, error) {
	name := annotations[remediationv1.ExecutionLabel]
	if uid == "" || name == "" {
		return false, nil // the policies let users make none; a person must look
	}
	var x remediationv1.KubernetesExecution
	sight, err := read.Find(ctx, s.Live, read.Key{Namespace: namespace, Name: name}, &x, read.Is[*remediationv1.KubernetesExecution](uid))
	if err != nil {
		return false, err
	}
	return sight == presence.Gone || sight == presence.Other || execution.Ended(&x) || x.Status.ExecutionResults != nil, nil
}
