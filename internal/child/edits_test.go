package child

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func entry(manager string, op metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: op, FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestEdits(t *testing.T) {
	const (
		strategy = `{"f:spec":{"f:updateStrategy":{"f:type":{}}}}`
		image    = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"db\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`
		name     = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"db\"}":{".":{},"f:name":{}}}}}}}`
	)
	changeImage := func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[1].Image = "x" }
	for what, c := range map[string]struct {
		edit     func(*appsv1.StatefulSet)
		managers []metav1.ManagedFieldsEntry
		want     string
		undoable bool
	}{
		"by a person": {changeImage, []metav1.ManagedFieldsEntry{entry("statecraft-x", "Apply", name), entry("kubectl-edit", "Update", image)},
			`.spec.template.spec.containers[name="db"].image is set by "kubectl-edit"`, true},
		"by another controller": {changeImage, []metav1.ManagedFieldsEntry{entry("statecraft-x", "Apply", name), entry("argocd-controller", "Apply", image)},
			`.spec.template.spec.containers[name="db"].image is set by "argocd-controller"`, false},
		"by admission, so that it is ours": {changeImage, []metav1.ManagedFieldsEntry{entry("statecraft-x", "Apply", image)}, "", true},
		"removed": {func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = "" }, []metav1.ManagedFieldsEntry{entry("statecraft-x", "Apply", image)},
			".spec.updateStrategy.type is missing", true},
		"replaced as a whole": {func(s *appsv1.StatefulSet) { s.Spec.Selector = nil },
			[]metav1.ManagedFieldsEntry{entry("statecraft-x", "Apply", strategy), entry("kubectl-patch", "Update", `{"f:spec":{"f:selector":{}}}`)},
			`.spec.selector is set by "kubectl-patch"`, true},
	} {
		live := liveSet()
		c.edit(live)
		live.ManagedFields = c.managers
		fields, err := Differs(wantSet(), live)
		if err != nil || len(fields) != 1 {
			t.Fatalf("%s: differs in %v: %v", what, fields, err)
		}
		edits, err := Edits(fields, live, "statecraft-x")
		is, want := State{Edits: edits}, [2]string{"", c.want}
		if c.undoable {
			want = [2]string{c.want, ""}
		}
		if got := [2]string{is.Edited(), is.Contested()}; err != nil || got != want {
			t.Errorf("%s: edited and contested %q, want %q: %v", what, got, want, err)
		}
	}
}

func TestOwnedBy(t *testing.T) {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "o", UID: "o1"}}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: Controller(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}
	if !OwnedBy(owned, "o1") || OwnedBy(owned, "o2") || OwnedBy(owner, "") {
		t.Error("the owner is told by its UID alone")
	}
}
