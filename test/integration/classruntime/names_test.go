package classruntime

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestObjectsOfUsersAreLeftAlone: one under the name of a child is neither merged into nor adopted nor deleted, of whatever kind, also if
// it bears our labels.
func TestObjectsOfUsersAreLeftAlone(t *testing.T) {
	for kind, of := range map[string]func(*stage) client.Object{
		"Service": func(s *stage) client.Object {
			return &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "mine"}, Ports: []corev1.ServicePort{{Port: 1}}}}
		},
		"HorizontalPodAutoscaler": func(s *stage) client.Object {
			h := s.autoscaler("cart-add")
			h.Spec.ScaleTargetRef.Name = "mine"
			return h
		},
		"PodDisruptionBudget": func(*stage) client.Object {
			return &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: ptr.To(intstr.FromInt32(0)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "mine"}},
			}}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			s := newStage(t)
			theirs := of(s)
			theirs.SetNamespace(s.namespace)
			theirs.SetName("cart-add")
			theirs.SetLabels(map[string]string{runtimev1.ClassLabel: "cart", runtimev1.FunctionLabel: "add"})
			s.create(theirs)
			s.manager.Start()
			f := function("add", 8080)
			f.Scaling = &runtimev1.Scaling{Max: 3}
			s.create(s.newClass(f, function("total", 0)))
			s.until("Stalled", metav1.ConditionTrue, "NameTaken")
			s.says(kind + " cart-add exists and is controlled by no controller")
			s.until("Serving", metav1.ConditionTrue, "")
			s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions = c.Spec.Functions[1:] })
			s.until("Ready", metav1.ConditionTrue, "")
			s.stands(theirs)
		})
	}
}

// stands fails if an object of a user is not what it was made as, or goes within a second. Its status may change.
func (s *stage) stands(theirs client.Object) {
	s.Helper()
	harness.Consistently(s.T, time.Second, poll, func() error {
		is := theirs.DeepCopyObject().(client.Object)
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(theirs), is); err != nil {
			return err
		}
		if is.GetUID() != theirs.GetUID() || is.GetDeletionTimestamp() != nil || len(is.GetOwnerReferences()) > 0 {
			s.Fatalf("the object of a user was adopted or deleted: %+v", is)
		}
		for _, by := range is.GetManagedFields() {
			if strings.HasPrefix(by.Manager, "statecraft") {
				s.Fatalf("the object of a user was written to: %+v", by)
			}
		}
		return nil
	})
}

// TestClassesWhoseNamesRunTogether share nothing: the second comer is told, and with hashes both live.
func TestClassesWhoseNamesRunTogether(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	first := s.newClass(function("b-c", 8080))
	first.Name = "a"
	second := s.newClass(function("c", 8080))
	second.Name = "a-b"
	s.create(first)
	s.reason(first, "FunctionsReady")
	s.create(second)
	s.reason(second, "NameTaken")
	if len(second.Status.ResourceRefs) > 0 {
		t.Errorf("the second has %+v", second.Status.ResourceRefs)
	}
	s.reason(first, "FunctionsReady")
	s.remove(second)
	s.gone(second)
	s.reason(first, "FunctionsReady")
	again := s.newClass(function("c", 8080))
	again.Name, again.Spec.Naming = "a-b", runtimev1.NamingHashed
	s.create(again)
	s.reason(again, "FunctionsReady")
	if again.Status.Functions[0].Name == first.Status.Functions[0].Name {
		t.Errorf("both are called %s", again.Status.Functions[0].Name)
	}
	var d corev1.ServiceList
	if err := s.List(t.Context(), &d, client.InNamespace(s.namespace)); err != nil || len(d.Items) != 2 {
		t.Errorf("%v: %d Services", err, len(d.Items))
	}
}

// TestAStolenLabel: a Deployment of a user that bears our labels, and a child that lost them.
func TestAStolenLabel(t *testing.T) {
	s := newStage(t)
	s.pair(asItIs)
	theirs := mine(s.namespace)
	s.create(theirs)
	is := s.deployment("add")
	s.byHand("label", "deployment/cart-add", runtimev1.ClassLabel+"-", runtimev1.FunctionLabel+"-")
	harness.Eventually(t, timeout.Wait, poll, func() error {
		if now := s.deployment("add"); now.UID != is.UID {
			t.Fatal("a child that lost its labels was made anew")
		} else if now.Labels[runtimev1.ClassLabel] == "" {
			return errors.New("it has no label")
		}
		return nil
	})
	s.until("Ready", metav1.ConditionTrue, "")
	s.stands(theirs)
}

// mine is a Deployment of a user that bears the labels of a function.
func mine(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "mine"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine", Labels: map[string]string{runtimev1.ClassLabel: "cart", runtimev1.FunctionLabel: "gone"}},
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "mine", Image: "mine:1"}}},
		}},
	}
}

// reason waits until a class says why it is where it is, of the spec as it is, and reads it.
func (s *stage) reason(c *runtimev1.ClassRuntime, reason string) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if string(c.Status.Reason) != reason || c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("%s is %s, %s: %s", c.Name, c.Status.Phase, c.Status.Reason, c.Status.WaitingFor)
		}
		return nil
	})
}
