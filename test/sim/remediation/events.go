package remediation

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// event is what others do at a moment of an execution, in the middle of a pass.
type event struct {
	of string // the name of the execution
	at moment
	do func(*story, context.Context, *remediationv1.KubernetesExecution) error
}

// moment is something that happens to an execution.
type moment string

// The moments at which others interfere.
const (
	whenSaved    moment = "the UID of the Job is saved"
	whenReleased moment = "the Job is released"
	beforeEffect moment = "the pod runs, and has done nothing"
	afterEffect  moment = "the target is changed, and nothing is reported"
)

// happens lets others do what they do at a moment of an execution, once.
func (s *story) happens(ctx context.Context, name string, at moment) error {
	for i, e := range s.events {
		if e.of != name || e.at != at || s.happened[i] {
			continue
		}
		s.happened[i] = true
		x := s.first
		if name == s.then.Name {
			x = s.then
		}
		if err := e.do(s, ctx, x); err != nil {
			return fmt.Errorf("when %s of %s: %w", at, name, err)
		}
	}
	return nil
}

func merge(patch string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(patch))
}

// cancel is what the owner of an execution does.
func (s *story) cancel(ctx context.Context, x *remediationv1.KubernetesExecution) error {
	return s.world.As(requester).Patch(ctx, x.DeepCopy(), merge(`{"spec":{"cancel":true}}`))
}

// lose removes the Job of an execution and its pod, as only an administrator can.
func (s *story) lose(ctx context.Context, x *remediationv1.KubernetesExecution) error {
	s.lost[x.UID] = true
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: execution.JobName(x.UID)}}
	if pod := s.node.pod(job); pod != nil {
		pod.Finalizers = nil
		if err := s.world.Client.Update(ctx, pod); err != nil {
			return fmt.Errorf("strip pod: %w", err)
		}
		if err := s.world.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)); err != nil {
			return fmt.Errorf("delete pod: %w", err)
		}
	}
	return client.IgnoreNotFound(s.loseJob(ctx, x))
}

// loseJob removes the Job alone: its pod goes on.
func (s *story) loseJob(ctx context.Context, x *remediationv1.KubernetesExecution) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: execution.JobName(x.UID)}}
	return s.world.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// remake deletes the target and makes another one of its name.
func (s *story) remake(ctx context.Context, _ *remediationv1.KubernetesExecution) error {
	was := s.target
	s.target = s.deployment()
	return errors.Join(s.world.Client.Delete(ctx, was), s.world.Client.Create(ctx, s.target))
}

// forget removes the Jobs of both executions, as their time to live does, and the status of the first one, as who restores it
// from a backup does.
func (s *story) forget(ctx context.Context) error {
	s.forgets = true
	err := errors.Join(s.lose(ctx, s.first), s.lose(ctx, s.then))
	return errors.Join(err, s.world.Client.Status().Patch(ctx, s.first.DeepCopy(), merge(`{"status":null}`)))
}

// resize changes what was approved, as an autoscaler does.
func (s *story) resize(ctx context.Context) error {
	s.meddled = true
	return s.world.Client.Patch(ctx, s.deployment(), merge(`{"spec":{"replicas":7}}`))
}

// touch changes the target, and nothing that the action works on.
func (s *story) touch(ctx context.Context) error {
	return errors.Join(s.world.Client.Patch(ctx, s.deployment(), merge(`{"metadata":{"annotations":{"note":"hurry"}},"spec":{"minReadySeconds":1}}`)),
		s.world.Client.Status().Patch(ctx, s.deployment(), merge(`{"status":{"replicas":1}}`)))
}
