package classruntime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestToolsSeeAClassAsItIs reads a class as Flux, Argo CD and Helm do: before anybody has looked at it, while it
// progresses, when it is available, while an edit is under way, and when a person must act.
func TestToolsSeeAClassAsItIs(t *testing.T) {
	s := newStage(t)
	s.become("add", corev1.PodStatus{Phase: corev1.PodPending})
	s.create(s.newClass(function("add", 8080)))
	s.seenAs(status.InProgressStatus)
	s.manager.Start()
	s.until("Ready", metav1.ConditionFalse, "WaitingForReplicas")
	s.seenAs(status.InProgressStatus)
	s.become("add", ready())
	s.until("Ready", metav1.ConditionTrue, "")
	s.seenAs(status.CurrentStatus)
	s.become("add", corev1.PodStatus{Phase: corev1.PodPending})
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Image = "add:2" })
	s.seenAs(status.InProgressStatus)
	s.until("Progressing", metav1.ConditionTrue, "")
	s.seenAs(status.InProgressStatus)
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Ports[0].Name = "this_is_no_name" })
	s.until("Degraded", metav1.ConditionTrue, "ApplyInvalid")
	s.seenAs(status.FailedStatus)
}

func (s *stage) seenAs(want status.Status) {
	s.Helper()
	is := &unstructured.Unstructured{}
	is.SetGroupVersionKind(runtimev1.GroupVersion.WithKind("ClassRuntime"))
	if err := s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "cart"}, is); err != nil {
		s.Fatal(err)
	}
	if got, err := status.Compute(is); err != nil || got.Status != want {
		s.Errorf("seen as %+v, want %s: %v", got, want, err)
	}
}

// TestPodsThatAreRefused: a quota, and pod security, are told in their own words, and not retried hot.
func TestPodsThatAreRefused(t *testing.T) {
	s := newStage(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "small"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}}}
	s.create(quota)
	harness.Eventually(t, timeout.Wait, poll, func() error {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil || len(quota.Status.Hard) == 0 {
			return fmt.Errorf("the quota is not in force: %w", err)
		}
		return nil
	})
	s.manager.Start()
	f := function("add", 8080)
	f.Replicas = ptr.To(int32(2))
	s.create(s.newClass(f))
	s.until("Stalled", metav1.ConditionTrue, "PodsRefused")
	s.says("exceeded quota: small")
	s.until("Serving", metav1.ConditionTrue, "")
	s.quiet(3 * time.Second)
	s.remove(quota)
	s.until("Ready", metav1.ConditionTrue, "")
}

// TestCrashLoops: a container that crashes again and again after the class was available is told soon, by its pod, and
// the class recovers when it runs.
func TestCrashLoops(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	s.create(s.newClass(function("add", 8080), function("total", 0)))
	s.until("Ready", metav1.ConditionTrue, "")
	s.become("add", crashing(3))
	harness.Within(t, toldWithin, poll, func() error { return s.is("Degraded", metav1.ConditionTrue, "CrashLoop") })
	s.says("ends again and again, last with exit code 3")
	s.until("Serving", metav1.ConditionFalse, "Silent")
	if err := s.is("Stalled", metav1.ConditionTrue, ""); err == nil {
		t.Error("a crash loop, which may pass, counts as stalled")
	}
	healed := ready()
	healed.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-2 * time.Minute)) // it runs for longer than a moment
	s.become("add", healed)
	s.until("Ready", metav1.ConditionTrue, "")
}

// TestPausedChangesNothing: a paused class is judged, and not changed.
func TestPausedChangesNothing(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	s.create(s.newClass(function("add", 8080)))
	s.until("Ready", metav1.ConditionTrue, "")
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Paused, c.Spec.Functions[0].Image = true, "add:2" })
	s.until("Ready", metav1.ConditionFalse, "Paused")
	if image := s.deployment("add").Spec.Template.Spec.Containers[0].Image; image != "add:1" {
		t.Errorf("the image is %s", image)
	}
	if err := s.is("Available", metav1.ConditionTrue, ""); err != nil {
		t.Error(err)
	}
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Paused = false })
	s.until("Ready", metav1.ConditionTrue, "")
	if image := s.deployment("add").Spec.Template.Spec.Containers[0].Image; image != "add:2" {
		t.Errorf("the image is %s", image)
	}
}

// TestValuesOfVariablesAreNowhere: not in the status, not in events; and the account cannot read Secrets.
func TestValuesOfVariablesAreNowhere(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	labelled := function("add", 8080)
	labelled.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "shop"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "function"}}}}
	s.create(s.newClass(labelled))
	c := s.until("Ready", metav1.ConditionTrue, "")
	if team := s.deployment("add").Spec.Template.Labels["team"]; team != "shop" {
		t.Error("labels of the pod template were pruned")
	}
	if strings.Contains(fmt.Sprintf("%+v", c.Status), canary) {
		t.Error("the value of a variable is in the status")
	}
	events, err := s.bed.Kubectl(t.Context(), "get", "events.events.k8s.io", "-n", s.namespace, "-o", "json")
	if err != nil || strings.Contains(events, canary) || !strings.Contains(events, "ClassRuntime") {
		t.Errorf("events, %v: %s", err, events)
	}
	out, err := s.bed.Kubectl(t.Context(), "auth", "can-i", "get", "secrets", "-n", s.namespace, "--as="+harness.User(area))
	if strings.TrimSpace(out) != "no" {
		t.Errorf("may the account read Secrets? %s, %v", out, err)
	}
}

// TestASwitchOfTemplateReplacesNoPod: dev and k8s_deployment make the same pods.
func TestASwitchOfTemplateReplacesNoPod(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	s.create(s.newClass(function("add", 8080)))
	s.until("Ready", metav1.ConditionTrue, "")
	pods := func() (names []string) {
		var list corev1.PodList
		if err := s.List(t.Context(), &list, client.InNamespace(s.namespace)); err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			names = append(names, p.Name)
		}
		return names
	}
	before := pods()
	for _, template := range []runtimev1.Template{runtimev1.TemplateDev, runtimev1.TemplateDeployment} {
		s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Template = template })
		if c := s.until("Ready", metav1.ConditionTrue, ""); c.Status.Template != string(template) {
			t.Errorf("the status says %s, want %s", c.Status.Template, template)
		}
	}
	if after := pods(); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("pods %v, then %v", before, after)
	}
}
