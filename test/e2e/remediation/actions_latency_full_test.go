//go:build full

package remediation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	// wantedQuotient is what is aimed at, tooSlow what is a defect even on a busy machine.
	wantedQuotient, tooSlow = 1.5, 4.0
	// blocks of ABBA: twice as many executions, and twice as many bare Jobs.
	blocks = 5
)

// TestActionsStartSoon measures how long it takes from an execution that needs no approval to its running action, and compares
// that with a bare Job of the same pod. They take turns, so that what slows the machine slows both.
func TestActionsStartSoon(t *testing.T) {
	s := newStage(t)
	s.create(s.dora, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"round": "none"}})
	_, like := s.startsExecution("warm-up") // makes the account of the action, too
	s.startsJob("warm-up", like)
	var executions, jobs []time.Duration
	for n := range 2 * blocks {
		name := fmt.Sprintf("round-%d", n)
		execute := func() { took, _ := s.startsExecution(name); executions = append(executions, took) }
		bare := func() { jobs = append(jobs, s.startsJob(name, like)) }
		if n%2 == 0 {
			execute()
			bare()
		} else {
			bare()
			execute()
		}
	}
	ours, theirs := median(executions), median(jobs)
	quotient := ours.Seconds() / theirs.Seconds()
	harness.Row(t, "p50 of %d, from created to running: execution %s, bare Job %s, quotient %.2f (wanted %.1f)",
		len(executions), ours.Round(time.Millisecond), theirs.Round(time.Millisecond), quotient, wantedQuotient)
	t.Logf("executions %v, bare Jobs %v", executions, jobs)
	if quotient > tooSlow {
		t.Errorf("an action starts %.2f times as late as a bare Job, want at most %.1f", quotient, tooSlow)
	}
}

// startsExecution makes an execution, and returns when its action ran, and of what its pod is made. It waits for the end.
func (s *stage) startsExecution(name string) (time.Duration, *corev1.PodTemplateSpec) {
	s.Helper()
	x := &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "update_configmap", Target: remediationv1.TargetRef{Kind: "ConfigMap", Name: "settings"}, FinalizeAfterSeconds: 1,
			Parameters: stepOn("ConfigMap", "settings", "update_configmap", fmt.Sprintf(`{"data":{"round":%q}}`, name)).Parameters,
		},
	}
	began := time.Now()
	s.create(s.dora, x)
	took := s.untilRunning(began, client.MatchingLabels{remediationv1.ExecutionLabel: string(x.UID)})
	job := &batchv1.Job{}
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: execution.JobName(x.UID)}, job); err != nil {
		s.Fatal(err)
	}
	if x = s.until(name, "completed"); x.Status.Effect != remediationv1.EffectApplied || x.Status.ApprovalReceived != nil {
		s.Errorf("%s: %s, approved by %+v", name, x.Status.Effect, x.Status.ApprovalReceived)
	}
	return took, &job.Spec.Template
}

// startsJob makes a bare Job with the pod of an action, and returns when it ran. Its name has the prefix without which the policies
// refuse its pod, and it does nothing.
func (s *stage) startsJob(name string, like *corev1.PodTemplateSpec) time.Duration {
	s.Helper()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: remediationv1.JobPrefix + name},
		Spec:       batchv1.JobSpec{BackoffLimit: ptr.To[int32](0), Template: corev1.PodTemplateSpec{Spec: *like.Spec.DeepCopy()}},
	}
	job.Spec.Template.Spec.Containers[0].Args = []string{"--version"}
	began := time.Now()
	s.create(s.admin, job)
	took := s.untilRunning(began, client.MatchingLabels{batchv1.JobNameLabel: job.Name})
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if job.Status.Succeeded != 1 {
			return fmt.Errorf("Job %s: %+v", job.Name, job.Status)
		}
		return nil
	})
	return took
}

// untilRunning waits until the container of the pod with these labels runs, or has run.
func (s *stage) untilRunning(began time.Time, labels client.MatchingLabels) (took time.Duration) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, 10*time.Millisecond, func() error {
		pods := &corev1.PodList{}
		if err := s.admin.List(s.Context(), pods, client.InNamespace(s.namespace), labels); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			for _, c := range pod.Status.ContainerStatuses {
				if took = time.Since(began); c.State.Running != nil || c.State.Terminated != nil {
					return nil
				}
			}
		}
		return fmt.Errorf("no container of %v runs", labels)
	})
	return took
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
