package kube

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// sameOwner says that there is controlled by the owner that obj was built for.
func sameOwner(there, obj metav1.Object) bool {
	owner := metav1.GetControllerOf(obj)
	return owner != nil && child.OwnedBy(there, owner.UID)
}

// Taken is the error for a name that belongs to someone else.
func Taken(kind string, obj metav1.Object) error {
	by := "no controller"
	if ref := metav1.GetControllerOf(obj); ref != nil {
		by = ref.Kind + " " + ref.Name
	}
	say := fmt.Sprintf("%s %s exists and is controlled by %s: remove or rename it.", kind, obj.GetName(), by)
	return &fsm.Error{Class: fsm.Refused, Err: fmt.Errorf("%s", say), Reason: ReasonNameTaken, Say: say}
}
