package classruntime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestACrashLoopIsTold: a container that crashes after the class was available is told within five seconds of its third
// restart, names the pod, and the class recovers by itself.
func TestACrashLoopIsTold(t *testing.T) {
	s := newStage(t)
	s.Create(newClass("cart", function("add", 1), function("total", 1)))
	s.awaitReady("cart")
	pod := s.pods("cart", "add")[0].Name
	var visible time.Time
	harness.Eventually(t, timeout.Wait, poll, func() error {
		for _, p := range s.pods("cart", "add") {
			status := p.Status.ContainerStatuses[0]
			if status.RestartCount >= 3 && status.LastTerminationState.Terminated != nil {
				visible = time.Now()
				return nil
			}
			if status.State.Running != nil {
				s.tell(p, "crash")
			}
		}
		return fmt.Errorf("not restarted three times")
	})
	harness.Within(t, toldWithin, poll, func() error { return s.is("cart", "Degraded", metav1.ConditionTrue, "CrashLoop") })
	harness.Row(t, "a crash loop is told %.1f s after it is visible", time.Since(visible).Seconds())
	if c := s.class("cart"); !strings.Contains(c.Status.WaitingFor, pod) {
		t.Errorf("pod %s is not named: %s", pod, s.told("cart"))
	}
	if err := s.is("cart", "Ready", metav1.ConditionFalse, "CrashLoop"); err != nil {
		t.Error(err)
	}
	harness.Eventually(t, timeout.Wait, poll, func() error { return s.is("cart", "Serving", metav1.ConditionTrue, "") })
	harness.Eventually(t, timeout.Wait, time.Second, func() error { return s.is("cart", "Ready", metav1.ConditionTrue, "") })
}

// TestAQuotaIsTold: pods that a quota refuses are told in its words; what runs goes on serving, the other function is
// applied, and the class recovers when there is room.
func TestAQuotaIsTold(t *testing.T) {
	s := newStage(t)
	s.Create(newClass("cart", function("add", 1), function("total", 1)))
	s.awaitReady("cart")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}}}
	s.Create(quota)
	harness.Eventually(t, timeout.Wait, poll, func() error { // its status is what admission goes by
		if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil || quota.Status.Used.Pods().Value() != 2 {
			return fmt.Errorf("used %v, %w", quota.Status.Used, err)
		}
		return nil
	})
	s.edit("cart", func(c *runtimev1.ClassRuntime) {
		three := int32(3)
		c.Spec.Functions[0].Replicas = &three
	})
	harness.Eventually(t, timeout.Wait, poll, func() error {
		out, err := s.Bed.Kubectl(t.Context(), "get", "deployment", "-n", s.Namespace, "cart-add", "-o", `jsonpath={.status.conditions[?(@.type=="ReplicaFailure")].status}`)
		if err != nil || out != "True" {
			return fmt.Errorf("not visible yet: %s %w", out, err)
		}
		return nil
	})
	harness.Within(t, toldWithin, poll, func() error { return s.is("cart", "Degraded", metav1.ConditionTrue, "PodsRefused") })
	if err := s.is("cart", "Serving", metav1.ConditionTrue, ""); err != nil {
		t.Error(err)
	}
	if err := s.is("cart", "Stalled", metav1.ConditionTrue, "PodsRefused"); err != nil {
		t.Error(err)
	}
	if c := s.class("cart"); !strings.Contains(c.Status.WaitingFor, "exceeded quota: small") {
		t.Errorf("the refusal is not told: %s", s.told("cart"))
	}
	s.Delete(quota)
	harness.Eventually(t, timeout.Wait, time.Second, func() error { return s.is("cart", "Ready", metav1.ConditionTrue, "") })
	s.sparesOne()
}

// sparesOne: one of several pods is drained, and the class stays ready.
func (s *stage) sparesOne() {
	s.T.Helper()
	gone := s.pods("cart", "add")[0]
	s.Delete(&gone)
	harness.Consistently(s.T, 3*time.Second, poll, func() error { return s.is("cart", "Ready", metav1.ConditionTrue, "") })
}
