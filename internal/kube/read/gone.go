package read

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// SaysGone says that err is the API server's word that an object of this name
// does not exist: a 404 that names it. A kind that is not served answers 404,
// too, but names nothing, and says nothing about the object.
func SaysGone(err error, name string) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == name && name != ""
}
