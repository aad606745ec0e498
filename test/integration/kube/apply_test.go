package kube

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

// podTemplate is a child to which no controller of the cluster writes.
func podTemplate(namespace string, owner *kubetest.Lamp, image string) *corev1.PodTemplate {
	return &corev1.PodTemplate{ObjectMeta: objectMeta(namespace, "child", owner), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: image}},
	}}}
}

// deployment leaves replicas and strategy to the server.
func deployment(namespace string, owner *kubetest.Lamp) *appsv1.Deployment {
	labels := map[string]string{"app": "child"}
	return &appsv1.Deployment{ObjectMeta: objectMeta(namespace, "child", owner), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "one"}},
			Volumes:    []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		}},
	}}
}

// applying is a namespace with an owner and a writer.
type applying struct {
	*testing.T
	client    client.Client
	namespace string
	owner     *kubetest.Lamp
	kube.Writer
}

func newApplying(t *testing.T) applying {
	t.Helper()
	b := lamps(t)
	a := applying{T: t, client: newClient(t, b.Config()), namespace: bedtest.Namespace(t, b)}
	a.owner = create(t, a.client, lampOf(a.namespace, "owner"))
	a.Writer = envOf(a.client, a.namespace).Writer("test")
	return a
}

func (a applying) apply(seen types.UID, image string) error {
	return a.Apply(a.Context(), podTemplate(a.namespace, a.owner, image), seen)
}

func (a applying) child() *corev1.PodTemplate {
	a.Helper()
	return get(a.T, a.client, podTemplate(a.namespace, nil, ""))
}

func TestApplyMakesAChildAndThenWritesNothing(t *testing.T) {
	a := newApplying(t)
	if err := a.apply("", "one"); err != nil {
		t.Fatal(err)
	}
	made := a.child()
	// Seen, and not seen yet because the cache is behind: both change nothing.
	for _, seen := range []types.UID{made.UID, ""} {
		if err := a.apply(seen, "one"); err != nil {
			t.Fatal(err)
		}
		if again := a.child(); again.ResourceVersion != made.ResourceVersion {
			t.Errorf("applying the same with seen=%q wrote: %s", seen, cmp.Diff(made, again))
		}
	}
	if err := a.apply(made.UID, "two"); err != nil {
		t.Fatal(err)
	}
	if now := a.child(); now.Generation != made.Generation+1 || now.Template.Spec.Containers[0].Image != "two" {
		t.Errorf("generation %d after %d, image %s", now.Generation, made.Generation, now.Template.Spec.Containers[0].Image)
	}
}

func TestApplyOwnsOnlyWhatTheBuilderSet(t *testing.T) {
	a := newApplying(t)
	if err := a.Apply(t.Context(), deployment(a.namespace, a.owner), ""); err != nil {
		t.Fatal(err)
	}
	made := get(t, a.client, deployment(a.namespace, nil))
	const want = `{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"OWNER\"}":{}}},` +
		`"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},` +
		`"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:image":{},"f:name":{}}},` +
		`"f:volumes":{"k:{\"name\":\"scratch\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}}}`
	if diff := cmp.Diff(want, strings.ReplaceAll(ownedBy(made, "statecraft-test"), string(a.owner.UID), "OWNER")); diff != "" {
		t.Errorf("owned fields (-want +got):\n%s", diff)
	}
	// Nobody owns replicas, so whoever scales keeps what it set.
	scaled := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":3}}`))
	if err := a.client.Patch(t.Context(), made, scaled, client.FieldOwner("scaler")); err != nil {
		t.Fatal(err)
	}
	next := deployment(a.namespace, a.owner)
	next.Spec.Template.Spec.Containers[0].Image = "two"
	if err := a.Apply(t.Context(), next, made.UID); err != nil {
		t.Fatal(err)
	}
	if n := get(t, a.client, made).Spec.Replicas; *n != 3 {
		t.Errorf("replicas fell to %d", *n)
	}
}

// ownedBy is what a manager owns of an object by apply.
func ownedBy(obj client.Object, manager string) string {
	for _, entry := range obj.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply {
			return entry.FieldsV1.GetRawString()
		}
	}
	return ""
}

func TestApplyNeverAdoptsAForeignObject(t *testing.T) {
	for whose, say := range map[string]string{
		"nobody":  "PodTemplate child exists and is controlled by no controller: remove or rename it.",
		"another": "PodTemplate child exists and is controlled by Lamp another: remove or rename it.",
	} {
		t.Run("there before, of "+whose, func(t *testing.T) {
			a := newApplying(t)
			foreign := a.foreign(whose)
			a.refuses(a.apply("", "ours"), say)
			unchanged(t, a.client, foreign)
		})
		t.Run("came in place of the child that was seen, of "+whose, func(t *testing.T) {
			a := newApplying(t)
			if err := a.apply("", "ours"); err != nil {
				t.Fatal(err)
			}
			seen := a.child()
			if err := a.client.Delete(t.Context(), seen); err != nil {
				t.Fatal(err)
			}
			foreign := a.foreign(whose)
			a.refuses(a.apply(seen.UID, "ours"), say)
			unchanged(t, a.client, foreign)
		})
		t.Run("came between the look and the first apply, of "+whose, func(t *testing.T) {
			a := newApplying(t)
			var foreign *corev1.PodTemplate
			a.beforeApply(func() { foreign = a.foreign(whose) })
			a.refuses(a.apply("", "ours"), say)
			if now := a.child(); now.UID != foreign.UID || !cmp.Equal(now.Template, foreign.Template) || !cmp.Equal(now.OwnerReferences, foreign.OwnerReferences) {
				t.Errorf("something of ours is left: %s", cmp.Diff(foreign, now))
			}
		})
	}
}

func (a applying) foreign(whose string) *corev1.PodTemplate {
	a.Helper()
	var another *kubetest.Lamp
	if whose == "another" {
		another = create(a.T, a.client, lampOf(a.namespace, "another"))
	}
	d := podTemplate(a.namespace, another, "theirs")
	d.Template.Spec.Containers[0].Name = "theirs"
	return create(a.T, a.client, d)
}

func (a applying) refuses(err error, say string) {
	a.Helper()
	if fsm.ClassOf(err) != fsm.Refused || fsm.StatusMessage(err) != say {
		a.Errorf("class %s, says %q: %v", fsm.ClassOf(err), fsm.StatusMessage(err), err)
	}
}

// beforeApply does something once, between the look and the apply.
func (a *applying) beforeApply(do func()) {
	c := interceptor.NewClient(newWatchClient(a, lamps(a).Config()), interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			if do != nil {
				do()
				do = nil
			}
			return c.Apply(ctx, obj, opts...)
		},
	})
	a.Writer = envOf(c, a.namespace).Writer("test")
}

func TestApplyToOurOwnChildMadeAnewLooksAgain(t *testing.T) {
	a := newApplying(t)
	if err := a.apply("", "one"); err != nil {
		t.Fatal(err)
	}
	seen := a.child()
	if err := a.client.Delete(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	if err := a.apply(seen.UID, "two"); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("gone: class %s: %v", fsm.ClassOf(err), err)
	}
	if err := a.apply("", "two"); err != nil {
		t.Fatal(err)
	}
	if err := a.apply(seen.UID, "two"); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("made anew: class %s: %v", fsm.ClassOf(err), err)
	}
}

func TestApplyNamesWhoOwnsTheField(t *testing.T) {
	a := newApplying(t)
	if err := a.apply("", "one"); err != nil {
		t.Fatal(err)
	}
	theirs := a.child()
	theirs.Template.Spec.Containers[0].Image = "theirs"
	if err := a.client.Update(t.Context(), theirs, client.FieldOwner("meddler")); err != nil {
		t.Fatal(err)
	}
	err := a.apply(theirs.UID, "two")
	conflict := (*kube.Conflict)(nil)
	if !errors.As(err, &conflict) {
		t.Fatalf("not a conflict: %v", err)
	}
	const field = `.template.spec.containers[name="main"].image`
	want := &kube.Conflict{Object: "PodTemplate child", Fields: []kube.ConflictField{{Manager: "meddler", Field: field}}}
	if diff := cmp.Diff(want, conflict); diff != "" {
		t.Error(diff)
	}
	const say = "Others own fields of PodTemplate child: " + field + ` is set by "meddler". Remove the fields there, or delete the object.`
	if fsm.ClassOf(err) != fsm.Contested || fsm.StatusMessage(err) != say {
		t.Errorf("class %s, says %q", fsm.ClassOf(err), fsm.StatusMessage(err))
	}
	if image := a.child().Template.Spec.Containers[0].Image; image != "theirs" {
		t.Errorf("forced: image %s", image)
	}
}
