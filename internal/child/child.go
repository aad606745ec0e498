// Package child says what a child is made of, whichever area it belongs to: its owner,
// the stamp by which it is known to be current, what server-side apply would own of it, and
// in which fields a live one differs from that.
package child

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Object is a child, or its owner.
type Object interface {
	metav1.Object
	runtime.Object
}

// Manager is the field manager by which a controller applies its children.
func Manager(controller string) string { return "statecraft-" + controller }

// Controller is the owner reference of the children of one owner: garbage collection takes
// them with it.
func Controller(owner metav1.Object, kind schema.GroupVersionKind) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)}
}

// OwnedBy says that the controller of obj is this very object. A label or a name
// proves nothing: both can be had by anyone, and names are used again.
func OwnedBy(obj metav1.Object, owner types.UID) bool {
	ref := metav1.GetControllerOf(obj)
	return ref != nil && owner != "" && ref.UID == owner
}
