package remediation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// always is asked after each write of the controllers.
func (s *story) always(change sim.Change) error {
	switch change.GroupVersionKind {
	case deploymentKind:
		return errors.New("the manager wrote a target")
	case requestKind:
		return s.alwaysRequest()
	case executionKind:
		return errors.Join(s.alwaysExecution(change), s.alwaysRequest())
	case jobKind:
		return s.alwaysJob(change)
	}
	return nil
}

// alwaysExecution: what a status says of the effect is true, at any time.
func (s *story) alwaysExecution(change sim.Change) error {
	x := &remediationv1.KubernetesExecution{}
	if change.Is == nil {
		return errors.New("an execution was deleted")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(change.Is.Object, x); err != nil {
		return err
	}
	s.over[x.UID] = over(x)
	if x.Status.JobUID != "" {
		s.saved[x.UID] = x.Status.JobUID
	}
	if err := s.truth(x); err != nil || x.Status.JobUID == "" {
		return err
	}
	return s.happens(context.Background(), x.Name, whenSaved)
}

// truth compares what is said of the effect with what it was.
func (s *story) truth(x *remediationv1.KubernetesExecution) error {
	count, said := s.node.effects[x.UID], x.Status.Effect
	none := said == remediationv1.EffectNone || said == remediationv1.EffectNotApplied
	switch {
	case count > 1:
		return fmt.Errorf("execution %s had its effect %d times", x.Name, count)
	case said == remediationv1.EffectApplied && count != 1:
		return fmt.Errorf("execution %s says that it was done, and it was not", x.Name)
	case none && count != 0:
		return fmt.Errorf("execution %s says %s, and it was done", x.Name, said)
	case said == remediationv1.EffectUnknown && s.node.effects[x.UID] == 1 && !s.lost[x.UID]:
		return fmt.Errorf("execution %s says that nobody knows, and the target bears its token", x.Name)
	}
	return nil
}

// alwaysJob: what is released is saved, approved and not cancelled.
func (s *story) alwaysJob(change sim.Change) error {
	is, was := jobOf(change.Is), jobOf(change.Was)
	switch {
	case is == nil && isReleased(was):
		return errors.New("a Job was deleted that was released")
	case !isReleased(is) || isReleased(was):
		return nil
	}
	return s.mayRelease(is)
}

func isReleased(job *batchv1.Job) bool { return job != nil && !ptr.Deref(job.Spec.Suspend, false) }

// mayRelease says why a Job should not have been released.
func (s *story) mayRelease(is *batchv1.Job) error {
	x := s.of(types.UID(is.Labels[remediationv1.ExecutionLabel]))
	switch {
	case x == nil:
		return errors.New("a Job was released without its execution")
	case x.Status.Phase == "" && s.saved[x.UID] == is.UID: // its status was lost after the last look, right before the release
		return nil
	case x.Status.JobUID != is.UID || x.Status.Effect != remediationv1.EffectStarted || x.Annotations[remediationv1.BegunAnnotation] != string(x.UID):
		return errors.New("a Job was released that is not saved")
	case s.asks && x.Status.ApprovalReceived == nil:
		return errors.New("a Job was released that nobody approved")
	case !s.isReserved(x):
		return errors.New("a Job was released whose target is not reserved")
	case x.Spec.Cancel, x.DeletionTimestamp != nil, execution.Ended(x), x.Status.Withdrawal != nil:
		return errors.New("a Job was released whose execution was cancelled, deleted, withdrawn or over")
	}
	return s.happens(context.Background(), x.Name, whenReleased)
}

func (s *story) isReserved(x *remediationv1.KubernetesExecution) bool {
	lease := s.lease()
	holder := x.UID
	if x.Spec.Parent != nil {
		holder = x.Spec.Parent.UID
	}
	return lease != nil && strings.HasSuffix(ptr.Deref(lease.Spec.HolderIdentity, ""), "/"+string(holder))
}

func jobOf(obj *unstructured.Unstructured) *batchv1.Job {
	if obj == nil {
		return nil
	}
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, job); err != nil {
		return nil
	}
	return job
}

// of is the execution of a UID; nil if it is not there.
func (s *story) of(uid types.UID) *remediationv1.KubernetesExecution {
	for _, is := range s.executions() {
		if is.UID == uid {
			return is
		}
	}
	return nil
}
