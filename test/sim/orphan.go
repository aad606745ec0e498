package sim

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// leaving says that an object is about to go, or is owned by one that may be gone.
func leaving(found []*unstructured.Unstructured) bool {
	exists := map[types.UID]bool{}
	for _, obj := range found {
		exists[obj.GetUID()] = true
	}
	return slices.ContainsFunc(found, func(obj *unstructured.Unstructured) bool {
		owners := obj.GetOwnerReferences()
		return obj.GetDeletionTimestamp() != nil ||
			slices.ContainsFunc(owners, func(o metav1.OwnerReference) bool { return !exists[o.UID] })
	})
}

// orphans says which object is owned by one that does not exist. Owners of kinds
// that were not looked for are believed to exist.
func orphans(found []*unstructured.Unstructured) error {
	exists, kinds := map[types.UID]bool{}, map[string]bool{}
	for _, obj := range found {
		exists[obj.GetUID()], kinds[obj.GetKind()] = true, true
	}
	for _, obj := range found {
		for _, owner := range obj.GetOwnerReferences() {
			if kinds[owner.Kind] && !exists[owner.UID] {
				return fmt.Errorf("%s %s is orphaned: its owner %s %s is gone", obj.GetKind(), obj.GetName(), owner.Kind, owner.Name)
			}
		}
	}
	return nil
}
