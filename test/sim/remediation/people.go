package remediation

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

func (s *story) execution(name string, replicas int) *remediationv1.KubernetesExecution {
	return &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: name},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: deploymentKind.Kind, Name: "web"}, Parameters: replicasOf(replicas),
			// So that ten minutes more are within all that is waited for.
			TimeoutSeconds: 3600, ApprovalTimeoutSeconds: 604800, StartDeadlineSeconds: 604800, FinalizeAfterSeconds: 300,
		},
	}
}

func replicasOf(n int) map[string]apiextensionsv1.JSON {
	return map[string]apiextensionsv1.JSON{"replicas": {Raw: fmt.Appendf(nil, "%d", n)}}
}

// prepare lets actions run in the namespace, and makes the target and the counter of effects.
func (s *story) prepare(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace}}
	enable := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, remediationv1.EnabledLabel)
	if err := s.world.Client.Patch(ctx, namespace, client.RawPatch("application/merge-patch+json", enable)); err != nil {
		return err
	}
	if err := s.world.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: counter}}); err != nil {
		return err
	}
	s.target = s.deployment()
	return s.world.Client.Create(ctx, s.target)
}

func (s *story) deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
}

// asking makes an execution, as somebody who is no administrator.
func (s *story) asking(x *remediationv1.KubernetesExecution) func(context.Context) error {
	return func(ctx context.Context) error { return s.world.As(requester).Create(ctx, x) }
}

// next makes the second execution, and lets faults strike that one.
func (s *story) next(ctx context.Context) error {
	s.about(s.then)
	return s.asking(s.then)(ctx)
}

// approving approves the plan that an execution has.
func (s *story) approving(x *remediationv1.KubernetesExecution, rollback bool) func(context.Context) error {
	return func(ctx context.Context) error {
		is := s.find(x)
		if is == nil || is.Status.Plan == nil {
			return errors.New("there is no plan to approve")
		}
		s.approved[is.Status.Plan.Digest] = true
		return s.world.As(approver).Create(ctx, &remediationv1.ExecutionApproval{
			ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: "yes-to-" + x.Name},
			Spec: remediationv1.ExecutionApprovalSpec{
				ExecutionRef: remediationv1.ExecutionRef{Name: x.Name, UID: is.UID}, PlanDigest: is.Status.Plan.Digest,
				Decision: remediationv1.Approved, IncludesRollback: rollback,
				// Whoever is not told of it looks by itself within ten hours.
				ValidUntil: &metav1.Time{Time: time.Now().Add(23 * time.Hour).Truncate(time.Second)},
			},
		})
	}
}

// takeBack makes the execution that the status of the first one gives for its rollback.
func (s *story) takeBack(ctx context.Context) error {
	is := s.find(s.first)
	info := is.Status.RollbackInformation
	s.then.Spec.Action, s.then.Spec.Parameters = info.RollbackAction, info.RollbackParameters
	s.then.Spec.RollbackOf = &remediationv1.ExecutionRef{Name: is.Name, UID: is.UID}
	return s.asking(s.then)(ctx)
}

// acknowledge says that a person has looked at what the first execution did.
func (s *story) acknowledge(ctx context.Context) error {
	s.acknowledged[s.first.UID] = true
	return s.world.As(approver).Create(ctx, &remediationv1.ExecutionApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "seen"},
		Spec: remediationv1.ExecutionApprovalSpec{
			ExecutionRef: remediationv1.ExecutionRef{Name: s.first.Name, UID: s.first.UID}, Decision: remediationv1.Acknowledged,
		},
	})
}
