package kube

import (
	"errors"
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

// Occupied is the error for a name that an object is to have and another has. What goes by itself is awaited, and named.
func Occupied(kind string, there, obj metav1.Object) error {
	why := child.Going(there, metav1.GetControllerOf(obj))
	if why == "" {
		return Taken(kind, there)
	}
	say := fmt.Sprintf("Waiting for %s %s to be gone: %s. It is made anew then.", kind, there.GetName(), why)
	return &fsm.Error{Class: fsm.Changed, Err: errors.New(say), Say: say}
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
