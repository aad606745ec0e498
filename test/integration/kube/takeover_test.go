package kube

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// meddled is a child of which another controller owns the image.
func (a applying) meddled() *corev1.PodTemplate {
	a.Helper()
	if err := a.apply("", "one"); err != nil {
		a.Fatal(err)
	}
	return a.meddle("theirs")
}

func (a applying) meddle(image string) *corev1.PodTemplate {
	a.Helper()
	theirs := a.child()
	theirs.Template.Spec.Containers[0].Image = image
	if err := a.client.Update(a.Context(), theirs, client.FieldOwner("meddler")); err != nil {
		a.Fatal(err)
	}
	return theirs
}

func (a applying) takeOver(seen kube.Seen) error {
	return a.TakeOver(a.Context(), podTemplate(a.namespace, a.owner, "ours"), seen)
}

func TestTakeOverMakesTheFieldsOurs(t *testing.T) {
	a := newApplying(t)
	theirs := a.meddled()
	if err := a.takeOver(kube.SeenOf(theirs)); err != nil {
		t.Fatal(err)
	}
	is := a.child()
	if image := is.Template.Spec.Containers[0].Image; image != "ours" || is.UID != theirs.UID {
		t.Errorf("the image is %s", image)
	}
	for _, entry := range is.ManagedFields {
		if entry.Manager == "meddler" && strings.Contains(entry.FieldsV1.GetRawString(), "f:image") {
			t.Error("the other manager owns the field still")
		}
	}
	if err := a.apply(is.UID, "two"); err != nil {
		t.Errorf("what was taken over cannot be applied without force: %v", err)
	}
}

// What was decided upon the owners of one version holds for no other, not even for one in which somebody wrote something
// else.
func TestTakeOverIsForOneVersion(t *testing.T) {
	a := newApplying(t)
	theirs := a.meddled()
	again := a.meddle("theirs again")
	if err := a.takeOver(kube.SeenOf(theirs)); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("class %s: %v", fsm.ClassOf(err), err)
	}
	unchanged(t, a.client, again)
}

func TestTakeOverOfAnotherObject(t *testing.T) {
	a := newApplying(t)
	seen := a.meddled()
	if err := a.client.Delete(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	if err := a.takeOver(kube.SeenOf(seen)); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("gone: class %s: %v", fsm.ClassOf(err), err)
	}
	foreign := a.foreign("another")
	if err := a.takeOver(kube.SeenOf(seen)); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("another: class %s: %v", fsm.ClassOf(err), err)
	}
	unchanged(t, a.client, foreign)
}

// Without a UID and a version nothing is sent.
func TestTakeOverOfWhatWasNotSeen(t *testing.T) {
	a := newApplying(t)
	theirs := a.meddled()
	a.Writer = envOf(interceptor.NewClient(newWatchClient(a, lamps(a).Config()), interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			t.Error("something was sent")
			return nil
		},
	}), a.namespace).Writer("test")
	for _, seen := range []kube.Seen{{}, {UID: theirs.UID}, {ResourceVersion: theirs.ResourceVersion}} {
		if err := a.takeOver(seen); fsm.ClassOf(err) != fsm.Refused {
			t.Errorf("%+v: class %s: %v", seen, fsm.ClassOf(err), err)
		}
		if err := a.ApplyTo(t.Context(), podTemplate(a.namespace, a.owner, "ours"), seen); fsm.ClassOf(err) != fsm.Refused {
			t.Errorf("%+v: class %s: %v", seen, fsm.ClassOf(err), err)
		}
	}
	unchanged(t, a.client, theirs)
}

// ApplyTo is not forced over another controller, and not for another version.
func TestApplyToIsForOneVersion(t *testing.T) {
	a := newApplying(t)
	theirs := a.meddled()
	apply := func(image string, seen kube.Seen) error {
		return a.ApplyTo(t.Context(), podTemplate(a.namespace, a.owner, image), seen)
	}
	if err := apply("ours", kube.SeenOf(theirs)); fsm.ClassOf(err) != fsm.Contested {
		t.Errorf("class %s: %v", fsm.ClassOf(err), err)
	}
	if err := apply("theirs", kube.SeenOf(theirs)); err != nil { // both own what both set
		t.Error(err)
	}
	again := a.meddle("theirs again")
	if err := apply("theirs again", kube.SeenOf(theirs)); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("class %s: %v", fsm.ClassOf(err), err)
	}
	unchanged(t, a.client, again)
}

// What a person edited since is not overruled, although Apply is forced over such edits.
func TestApplyToDoesNotOverruleWhatWasNotRead(t *testing.T) {
	a := newApplying(t)
	if err := a.apply("", "one"); err != nil {
		t.Fatal(err)
	}
	seen := a.child()
	edited := a.child()
	edited.Template.Spec.Containers[0].Image = "edited"
	if err := a.client.Update(t.Context(), edited, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	if err := a.ApplyTo(t.Context(), podTemplate(a.namespace, a.owner, "one"), kube.SeenOf(seen)); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("class %s: %v", fsm.ClassOf(err), err)
	}
	unchanged(t, a.client, edited)
}
