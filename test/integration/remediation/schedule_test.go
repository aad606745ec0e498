package remediation

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// schedule makes CronJobs, which take up to a minute: as an action, of its name, and an ordinary one.
func (s *stage) schedule(t *testing.T) {
	t.Helper()
	for _, by := range both {
		for name, account := range map[string]string{"stolen-" + by: account, remediationv1.JobPrefix + by: "default", "ordinary-" + by: "default"} {
			c := &batchv1.CronJob{ObjectMeta: named(name), Spec: batchv1.CronJobSpec{
				Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: job("", account).Spec},
			}}
			if err := s.actors[by].Create(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSchedules is the last attack: it takes its time.
func TestSchedules(t *testing.T) {
	s := newStage(t)
	for _, by := range both {
		for _, name := range []string{"stolen-" + by, remediationv1.JobPrefix + by} {
			t.Run("have a CronJob "+name+" make a Job", func(t *testing.T) {
				if err := s.said(t, &batchv1.CronJob{ObjectMeta: named(name)}, makesJobs); err == nil {
					t.Error("it succeeded")
				}
			})
		}
		t.Run("an ordinary CronJob of "+by, func(t *testing.T) {
			harness.Eventually(t, soon, poll, func() error {
				pods := &corev1.PodList{}
				if err := s.admin.List(t.Context(), pods, client.InNamespace(namespace), client.HasLabels{batchv1.JobNameLabel}); err != nil {
					return err
				}
				if !slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
					return len(p.Labels[batchv1.JobNameLabel]) > len("ordinary-"+by) && p.Labels[batchv1.JobNameLabel][:len("ordinary-"+by)] == "ordinary-"+by
				}) {
					return fmt.Errorf("the CronJob has made no pod yet")
				}
				return nil
			})
		})
	}
}

// TestPodsAreMadeAsFast measures what the policies cost everybody: how long it takes to make a pod.
func TestPodsAreMadeAsFast(t *testing.T) {
	s := newStage(t)
	a := s.actors[editor].in(t)
	median := func() time.Duration {
		const pods = 50
		took := make([]time.Duration, pods)
		for i := range took {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "fast-"}, Spec: podSpec("default")}
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "test.example/never"}}
			began := time.Now()
			if err := a.Create(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		return took[pods/2]
	}
	median() // the first ones are slower
	with := median()
	// The API server reads new bindings about once a second, those of a kind in the order in which they were made. So the one
	// that is tried afterwards is put back last: others that came later would not be in force yet when the next test begins.
	checks := bindings(t, validatingBinding)
	last := checks["pods"]
	delete(checks, "pods")
	all := append(slices.Collect(maps.Values(bindings(t, mutatingBinding))), append(slices.Collect(maps.Values(checks)), last)...)
	back := s.without(t, all...)
	harness.Eventually(t, soon, poll, func() error { return a.dryRun().Create(t.Context(), pod(func(*corev1.Pod) {})()) })
	without := median()
	back()
	harness.Eventually(t, soon, poll, func() error { return harness.Refused(t, a, pod(func(*corev1.Pod) {})(), makesPods) })
	harness.Eventually(t, soon, poll, func() error { return creating(func(*kx) {})(t, s, a.dryRun()) }) // the stamps are of another kind
	again := median()
	harness.Row(t, "a pod is made in %s with the policies and %s without, and %s with them again: %.2f", with.Round(time.Microsecond), without.Round(time.Microsecond),
		again.Round(time.Microsecond), min(with, again).Seconds()/without.Seconds())
}
