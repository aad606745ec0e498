package read

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SaysGone says that err is the API server's word that an object of this name
// does not exist: a 404 that it composed and that names the object.
//
// NOTE: a kind or a version that is not served answers 404, too. That one has no
// Status; the client makes one up, puts in the name that was asked for and notes
// that the answer was unexpected. It says nothing about the object.
func SaysGone(err error, name string) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == name && name != "" &&
		!apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
