package classruntime

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestChildrenFollowTheSpec: an edit of one function writes to that one alone, and what no function has any more is
// deleted; a function that cannot be built any more goes on running.
func TestChildrenFollowTheSpec(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	s.create(s.newClass(function("add", 8080), function("total", 8080)))
	s.until("Ready", metav1.ConditionTrue, "")
	total := s.deployment("total")
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Image = "add:2" })
	s.until("Ready", metav1.ConditionTrue, "")
	if is := s.deployment("total"); is.Generation != total.Generation || is.UID != total.UID {
		t.Errorf("Deployment %s was written to", is.Name)
	}
	if image := s.deployment("add").Spec.Template.Spec.Containers[0].Image; image != "add:2" {
		t.Errorf("the image is %s", image)
	}

	s.edit(func(c *runtimev1.ClassRuntime) { // no port, no Service; and the template of the other is of no use
		c.Spec.Functions[0].Ports = nil
		c.Spec.Functions[1].PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "total:1"}}}}
	})
	s.until("Degraded", metav1.ConditionTrue, "ApplyInvalid")
	s.gone(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cart-add"}})
	if is := s.deployment("total"); is.UID != total.UID || is.DeletionTimestamp != nil {
		t.Error("a function that cannot be built any more was stopped")
	}
	s.until("Serving", metav1.ConditionTrue, "")

	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions = c.Spec.Functions[:1] })
	s.until("Ready", metav1.ConditionTrue, "")
	for _, obj := range []client.Object{total, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cart-total"}}} {
		s.gone(obj)
	}
}

func (s *stage) gone(obj client.Object) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error { return harness.Gone(s.Context(), s.Client, obj) })
}

// TestStrangersAreLeftAlone: an object of a user under the name of a child is neither merged into nor adopted nor
// deleted; the other function is applied, and the class recovers when the name is free.
func TestStrangersAreLeftAlone(t *testing.T) {
	s := newStage(t)
	stranger := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cart-add", Labels: map[string]string{runtimev1.ClassLabel: "cart"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "mine"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "mine"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "mine", Image: "mine:1"}}}},
		},
	}
	s.create(stranger)
	s.manager.Start()
	s.create(s.newClass(function("add", 8080), function("total", 0)))
	s.until("Stalled", metav1.ConditionTrue, "NameTaken")
	s.says("cart-add exists and is controlled by no controller")
	if d := s.deployment("total"); len(d.OwnerReferences) != 1 {
		t.Error("the other function was not applied")
	}
	is := s.deployment("add")
	if is.UID != stranger.UID || len(is.OwnerReferences) > 0 || is.Spec.Template.Spec.Containers[0].Image != "mine:1" || len(is.Spec.Template.Spec.Containers) != 1 {
		t.Errorf("the object of a user was written to: %+v", is)
	}
	if c := s.class(); c.Status.Functions[0].Reason != "NameTaken" {
		t.Errorf("%+v", c.Status.Functions)
	}
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions = c.Spec.Functions[1:] })
	s.until("Ready", metav1.ConditionTrue, "")
	if is := s.deployment("add"); is.UID != stranger.UID || is.DeletionTimestamp != nil {
		t.Error("the object of a user was deleted")
	}
}

// TestEdits: what a person edits is undone; a field that another controller sets is a conflict that names it, and ends
// when that one lets go.
func TestEdits(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	s.create(s.newClass(function("add", 8080), function("total", 8080)))
	s.until("Ready", metav1.ConditionTrue, "")
	s.byHand("set", "image", "deployment/cart-add", "function=add:9")
	harness.Eventually(t, timeout.Wait, poll, func() error {
		if image := s.deployment("add").Spec.Template.Spec.Containers[0].Image; image != "add:1" {
			return fmt.Errorf("the image is %s", image)
		}
		return s.is("Ready", metav1.ConditionTrue, "")
	})

	rival := func(image string) error {
		patch := fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"cart-add"},"spec":{"template":{"spec":{"containers":[{"name":"function","image":%q}]}}}}`, image)
		return s.Patch(t.Context(), s.deployment("add"), client.RawPatch("application/apply-patch+yaml", patch), client.FieldOwner("rival"), client.ForceOwnership)
	}
	if err := rival("add:8"); err != nil {
		t.Fatal(err)
	}
	s.until("Stalled", metav1.ConditionTrue, "Conflict")
	s.says(`is set by "rival"`)
	if image := s.deployment("add").Spec.Template.Spec.Containers[0].Image; image != "add:8" {
		t.Errorf("the field of another controller was taken: %s", image)
	}
	if err := rival("add:1"); err != nil { // it sets what is wanted
		t.Fatal(err)
	}
	s.until("Ready", metav1.ConditionTrue, "")
}

func (s *stage) byHand(args ...string) {
	s.Helper()
	if out, err := s.bed.Kubectl(s.Context(), append([]string{"-n", s.namespace}, args...)...); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
}

// TestALifeIsThreeWritesOfStatus counts what the manager writes from apply to available, and at rest.
func TestALifeIsThreeWritesOfStatus(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	began := metav1.Now().Time
	s.create(s.newClass(function("add", 8080), function("total", 8080)))
	s.until("Ready", metav1.ConditionTrue, "")
	took, counts := time.Since(began), bed.CountWrites(s.writes(began))
	most := 3
	if took > 2*time.Second { // what a pod waits for is told if it waits for longer
		most++
	}
	status := counts["patch classruntimes.runtime.statecraft.dev/status"]
	if counts["patch deployments.apps"] != 2 || counts["patch services"] != 2 || status < 3 || status > most {
		t.Errorf("%v in %s", counts, took)
	}
	harness.Row(t, "a life of %s: %v", took.Round(100*time.Millisecond), counts)
}

// TestSpecsThatMakeNoSense are refused by the API server itself.
func TestSpecsThatMakeNoSense(t *testing.T) {
	s := newStage(t)
	for what, c := range map[string]*runtimev1.ClassRuntime{
		"no function":              s.newClass(),
		"a function of nothing":    s.newClass(runtimev1.Function{Key: "add"}),
		"two functions of one key": s.newClass(function("add", 0), function("add", 0)),
		"a key that is no label":   s.newClass(function("Add_1", 0)),
		"a template that is not": func() *runtimev1.ClassRuntime {
			c := s.newClass(function("add", 0))
			c.Spec.Template = "none"
			return c
		}(),
		"a name that is too long": func() *runtimev1.ClassRuntime {
			c := s.newClass(function("add", 0))
			c.Name = "a23456789012345678901234567890123456789012"
			return c
		}(),
		"a name that begins with 1": func() *runtimev1.ClassRuntime { c := s.newClass(function("add", 0)); c.Name = "1cart"; return c }(),
	} {
		if err := s.Create(t.Context(), c); !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
