package classruntime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// pair is a class of one function with two replicas, which is available.
func (s *stage) pair(edit func(*runtimev1.Function)) {
	s.Helper()
	s.manager.Start()
	f := function("add", 0)
	f.Replicas = ptr.To(int32(2))
	edit(&f)
	s.create(s.newClass(f))
	s.until("Ready", metav1.ConditionTrue, "")
}

func asItIs(*runtimev1.Function) {}

// owner waits until the status says whose the replicas are, and how many.
func (s *stage) owner(owner string, desired int32) runtimev1.FunctionReplicas {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if r := s.class().Status.Functions[0].Replicas; r.Owner != owner || r.Desired != desired {
			return fmt.Errorf("%d replicas are of %q, want %d of %q", r.Desired, r.Owner, desired, owner)
		}
		return nil
	})
	return s.class().Status.Functions[0].Replicas
}

// retake asks for the number of the spec, at a time.
func (s *stage) retake(at time.Time) {
	s.Helper()
	s.edit(func(c *runtimev1.ClassRuntime) {
		c.Annotations = map[string]string{runtimev1.RetakeAnnotation: at.UTC().Format(time.RFC3339)}
	})
}

func (s *stage) replicas(want int32) error {
	if n := *s.deployment("add").Spec.Replicas; n != want {
		return fmt.Errorf("%d replicas, want %d", n, want)
	}
	return nil
}

// staysReady fails if the class was ever not ready since it was available for the first time.
func (s *stage) staysReady() {
	s.Helper()
	for _, m := range s.class().Status.History {
		if m.From == "available" {
			s.Errorf("it was not available for a while: %s by %s (%s)", m.To, m.Event, m.Reason)
		}
	}
}

// TestAManualScaleStands: by kubectl scale or edit, or by a GitOps tool with and without server-side apply. The class stays available and
// says whose the number is; an edit of the class does not touch it; a wish takes it back, once.
func TestAManualScaleStands(t *testing.T) {
	for manager, write := range map[string]func(*stage){
		"kubectl":      func(s *stage) { s.byHand("scale", "deployment/cart-add", "--replicas=5") },
		"kubectl-edit": func(s *stage) { s.patch("kubectl-edit", `{"spec":{"replicas":5}}`) },
		"flux":         func(s *stage) { s.patch("flux", `{"spec":{"replicas":5}}`) },
		"argocd-controller": func(s *stage) {
			s.byHand("apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller", "-f", s.file(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"cart-add"},"spec":{"replicas":5}}`))
		},
	} {
		t.Run(manager, func(t *testing.T) {
			s := newStage(t)
			s.pair(asItIs)
			before := time.Now().Add(-time.Hour)
			write(s)
			r := s.owner(manager, 5)
			if r.Asked == nil || *r.Asked != 2 || r.OverriddenSince == nil {
				t.Errorf("%+v", r)
			}
			s.until("Ready", metav1.ConditionTrue, "ReplicasOverridden")
			s.until("Available", metav1.ConditionTrue, "")
			s.staysReady()
			s.retake(before)
			s.edit(func(c *runtimev1.ClassRuntime) {
				c.Spec.Functions[0].Image, c.Spec.Functions[0].Replicas = "add:2", ptr.To(int32(3))
			})
			s.until("Ready", metav1.ConditionTrue, "ReplicasOverridden")
			if err := s.replicas(5); err != nil {
				t.Error(err)
			}
			harness.Eventually(t, timeout.Wait, poll, func() error { // a wish counts from the next second on
				s.retake(time.Now())
				return s.replicas(3)
			})
			s.owner("Spec", 3)
			s.until("Ready", metav1.ConditionTrue, "FunctionsReady")
			s.byHand("scale", "deployment/cart-add", "--replicas=4")
			s.owner("kubectl", 4)
			harness.Consistently(t, time.Second, poll, func() error { return s.replicas(4) })
		})
	}
}

func (s *stage) patch(manager, patch string) {
	s.Helper()
	if err := s.Patch(s.Context(), s.deployment("add"), client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner(manager)); err != nil {
		s.Fatal(err)
	}
}

// TestScaledToNothingIsNotReady: only the spec may ask for no replica.
func TestScaledToNothingIsNotReady(t *testing.T) {
	s := newStage(t)
	s.pair(asItIs)
	s.byHand("scale", "deployment/cart-add", "--replicas=0")
	s.until("Ready", metav1.ConditionFalse, "ReplicasOverridden")
	s.until("Serving", metav1.ConditionFalse, "Silent")
	s.byHand("scale", "deployment/cart-add", "--replicas=2")
	s.until("Ready", metav1.ConditionTrue, "")
}

// TestAnAutoscalerOfOurs: the cluster's own controller scales within its limits, edits of the class leave its number alone, and when the
// spec wants it no more its number stays. A watch never sees it fall.
func TestAnAutoscalerOfOurs(t *testing.T) {
	s := newStage(t)
	s.pair(func(f *runtimev1.Function) { f.Scaling = &runtimev1.Scaling{Max: 6} })
	seen := s.watch()
	s.owner("HorizontalPodAutoscaler cart-add", 2)
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Scaling.Min = ptr.To(int32(4)) })
	s.owner("HorizontalPodAutoscaler cart-add", 4) // the controller of the cluster has raised it
	s.until("Ready", metav1.ConditionTrue, "")
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Image = "add:2" })
	s.until("Ready", metav1.ConditionTrue, "")
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Scaling = nil })
	s.owner("Kept", 4)
	s.gone(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cart-add"}})
	s.until("Ready", metav1.ConditionTrue, "ReplicasOverridden")
	seen.are(t, 2, 4)
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Replicas = ptr.To(int32(3)) })
	s.owner("Spec", 3)
	s.until("Ready", metav1.ConditionTrue, "FunctionsReady")
}

// TestAnAutoscalerFromBirth: its lower limit, with which the function began, is no number that the spec says itself. What it left stays
// also if replicas were edited while it governed, and a later edit counts.
func TestAnAutoscalerFromBirth(t *testing.T) {
	for what, edit := range map[string]func(*runtimev1.Function){
		"the limit is the first number":       asItIs,
		"replicas were edited under it":       func(f *runtimev1.Function) { f.Replicas = ptr.To(int32(3)) },
		"the limit was raised after the edit": func(f *runtimev1.Function) { f.Replicas, f.Scaling.Min = ptr.To(int32(3)), ptr.To(int32(5)) },
	} {
		t.Run(what, func(t *testing.T) {
			s := newStage(t)
			s.pair(func(f *runtimev1.Function) { f.Scaling = &runtimev1.Scaling{Min: ptr.To(int32(4)), Max: 6} })
			seen := s.watch()
			s.owner("HorizontalPodAutoscaler cart-add", 4)
			s.scale(hpaManager, 6)
			s.owner("HorizontalPodAutoscaler cart-add", 6)
			s.edit(func(c *runtimev1.ClassRuntime) { edit(&c.Spec.Functions[0]) })
			s.until("Ready", metav1.ConditionTrue, "")
			s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Scaling = nil })
			s.owner("Kept", 6)
			seen.are(t, 4, 6)
			s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Replicas = ptr.To(int32(1)) })
			s.owner("Spec", 1)
		})
	}
}

// TestAnAutoscalerOfAnotherOwner is left alone and named; where the spec asks for one as well, ours is not made, or, if it is there already,
// the two are named.
func TestAnAutoscalerOfAnotherOwner(t *testing.T) {
	s := newStage(t)
	s.pair(asItIs)
	theirs := s.autoscaler("theirs")
	s.create(theirs)
	s.owner("HorizontalPodAutoscaler theirs", 2)
	s.scale(hpaManager, 5)
	s.owner("HorizontalPodAutoscaler theirs", 5)
	s.until("Ready", metav1.ConditionTrue, "")
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Scaling = &runtimev1.Scaling{Max: 6} })
	s.until("Stalled", metav1.ConditionTrue, "EngineConflict")
	s.says("HorizontalPodAutoscaler theirs of another owner scales Deployment cart-add")
	var all autoscalingv2.HorizontalPodAutoscalerList
	if err := s.List(t.Context(), &all, client.InNamespace(s.namespace)); err != nil || len(all.Items) != 1 || len(all.Items[0].OwnerReferences) > 0 {
		t.Errorf("%v: %+v", err, all.Items)
	}
	s.remove(theirs)
	s.until("Ready", metav1.ConditionTrue, "")
	s.owner("HorizontalPodAutoscaler cart-add", 5)
	theirs.ResourceVersion = ""
	s.create(theirs)
	s.until("Stalled", metav1.ConditionTrue, "EngineConflict")
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Scaling.Engine = runtimev1.EngineNone })
	s.owner("HorizontalPodAutoscaler theirs", 5)
	s.until("Ready", metav1.ConditionTrue, "")
}

// TestBudgets: several replicas have a budget that lets one go at a time, unless another owner has made one for them; a single one has none.
func TestBudgets(t *testing.T) {
	s := newStage(t)
	s.pair(asItIs)
	budget := &policyv1.PodDisruptionBudget{}
	key := client.ObjectKey{Namespace: s.namespace, Name: "cart-add"}
	harness.Eventually(t, timeout.Wait, poll, func() error {
		if err := s.Get(t.Context(), key, budget); err != nil {
			return err
		}
		if budget.Status.DisruptionsAllowed != 1 || budget.Status.ExpectedPods != 2 {
			return fmt.Errorf("%+v", budget.Status)
		}
		return nil
	})
	theirs := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "theirs"}}
	theirs.Spec.MaxUnavailable, theirs.Spec.Selector = budget.Spec.MaxUnavailable, &metav1.LabelSelector{MatchLabels: map[string]string{runtimev1.ClassLabel: "cart"}}
	s.create(theirs)
	s.gone(budget) // of pods that two budgets select none can be evicted
	s.stands(theirs)
	s.remove(theirs)
	harness.Eventually(t, timeout.Wait, poll, func() error { return s.Get(t.Context(), key, budget) })
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Replicas = ptr.To(int32(1)) })
	s.gone(budget)
	s.until("Ready", metav1.ConditionTrue, "")
}

// TestScalingThatMakesNoSense is refused by the API server itself.
func TestScalingThatMakesNoSense(t *testing.T) {
	s := newStage(t)
	for words, edit := range map[string]func(*runtimev1.ClassRuntime){
		"min must not exceed max": func(c *runtimev1.ClassRuntime) {
			c.Spec.Functions[0].Scaling = &runtimev1.Scaling{Min: ptr.To(int32(4)), Max: 3}
		},
		"replicas must not exceed scaling.max": func(c *runtimev1.ClassRuntime) {
			c.Spec.Functions[0].Replicas, c.Spec.Functions[0].Scaling = ptr.To(int32(4)), &runtimev1.Scaling{Max: 3}
		},
		"starts with at least one replica": func(c *runtimev1.ClassRuntime) {
			c.Spec.Functions[0].Replicas, c.Spec.Functions[0].Scaling = ptr.To(int32(0)), &runtimev1.Scaling{Max: 3}
		},
		"Unsupported value": func(c *runtimev1.ClassRuntime) {
			c.Spec.Functions[0].Scaling = &runtimev1.Scaling{Engine: "cron", Max: 3}
		},
	} {
		c := s.newClass(function("add", 0))
		edit(c)
		if err := s.Create(t.Context(), c); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("want an error that says %q: %v", words, err)
		}
	}
	c := s.newClass(function("add", 0))
	s.create(c)
	c.Spec.Naming = runtimev1.NamingHashed
	if err := s.Update(t.Context(), c); err == nil || !strings.Contains(err.Error(), "naming cannot be changed") {
		t.Errorf("the naming was changed: %v", err)
	}
}
