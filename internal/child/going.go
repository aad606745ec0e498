package child

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Going says of an object that has the name of a child why it will be gone by itself, and who has to act before that: it is being
// deleted, or it is of a former object of the kind and name of owner, and garbage collection takes it. "" is that it stays.
func Going(there metav1.Object, owner *metav1.OwnerReference) string {
	switch {
	case there.GetDeletionTimestamp() != nil && len(there.GetFinalizers()) > 0:
		return "it is being deleted, and finalizers hold it: " + strings.Join(there.GetFinalizers(), ", ")
	case there.GetDeletionTimestamp() != nil:
		return "it is being deleted"
	case isFormer(metav1.GetControllerOf(there), owner):
		return "garbage collection takes it, as its owner, a former " + owner.Kind + " " + owner.Name + ", is gone"
	}
	return ""
}

// isFormer says that an owner was another object of the name that owner has now.
func isFormer(was, owner *metav1.OwnerReference) bool {
	if was == nil || owner == nil || was.Kind != owner.Kind || was.Name != owner.Name || was.UID == owner.UID {
		return false
	}
	one, err := schema.ParseGroupVersion(was.APIVersion)
	other, err2 := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && err2 == nil && one.Group == other.Group
}
