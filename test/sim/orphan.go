package sim

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

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
