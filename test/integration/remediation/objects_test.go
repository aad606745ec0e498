package remediation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

func execution(name string) *remediationv1.KubernetesExecution {
	return &remediationv1.KubernetesExecution{
		ObjectMeta: named(name),
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "test_scale", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"},
			Parameters:     parameters(`{"replicas":3}`),
			PreConditions:  []remediationv1.Condition{{Name: "calm", Required: true, Parameters: parameters(`{"for":60}`)}},
			PostConditions: []remediationv1.Condition{{Name: "ready", Required: true}},
		},
	}
}

func parameters(text string) (all map[string]apiextensionsv1.JSON) {
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		panic(err) // it is written in a test
	}
	return all
}

func approval(of *remediationv1.KubernetesExecution, decision remediationv1.ApprovalDecision) *remediationv1.ExecutionApproval {
	a := &remediationv1.ExecutionApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "test-"},
		Spec: remediationv1.ExecutionApprovalSpec{
			ExecutionRef: remediationv1.ExecutionRef{Name: of.Name, UID: of.UID}, Decision: decision, PlanDigest: digest,
		},
	}
	if decision == remediationv1.Acknowledged {
		a.Spec.PlanDigest = ""
	}
	return a
}

func podSpec(account string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: account, RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](0),
		Containers: []corev1.Container{{Name: remediationv1.ActionContainer, Image: "image.invalid/none"}},
	}
}

// actionJob is as the manager makes one.
func actionJob(name string) *batchv1.Job {
	j := job(remediationv1.JobPrefix+name, account)
	j.Spec.Suspend, j.Spec.BackoffLimit = ptr.To(true), ptr.To[int32](0)
	j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	j.Spec.Template.Finalizers = []string{remediationv1.ResultFinalizer}
	return j
}

func job(name, account string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: named(name), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: podSpec(account)}}}
}

// said waits for an event about an object that has these words, and returns it as the error that it is. It is nil if
// a pod of the account was made instead.
func (s *stage) said(t testing.TB, about client.Object, words string) (err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for ctx.Err() == nil {
		events := &corev1.EventList{}
		if err := s.admin.List(ctx, events, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if strings.HasPrefix(e.InvolvedObject.Name, about.GetName()) && strings.Contains(e.Message, words) {
				return fmt.Errorf("%s %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message)
			}
		}
		pods := &corev1.PodList{}
		if err := s.admin.List(ctx, pods, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, p := range pods.Items {
			if strings.HasPrefix(p.Name, about.GetName()) {
				return nil
			}
		}
		<-time.After(poll)
	}
	t.Errorf("nothing is said about %s", about.GetName())
	return ctx.Err()
}
