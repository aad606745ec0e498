package read

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OwnedBy says that the controller of obj is this very object. A label or a name
// proves nothing: both can be had by anyone, and names are used again.
func OwnedBy(obj metav1.Object, owner types.UID) bool {
	ref := metav1.GetControllerOf(obj)
	return ref != nil && owner != "" && ref.UID == owner
}
