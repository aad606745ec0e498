package perform

import (
	"errors"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// answer is what became of a request.
type answer int

const (
	taken   answer = iota // it was done
	changed               // it was not done: the object is another one, or in another version
	refused               // it was not done, and will not be
	busy                  // it was not done, and may be later
	lost                  // it is not known
)

// answerOf is conservative: only what is certain not to have been done counts as that.
func answerOf(err error) answer {
	switch {
	case err == nil:
		return taken
	case apierrors.IsConflict(err), apierrors.IsNotFound(err), apierrors.IsGone(err), isOtherUID(err):
		return changed
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err),
		apierrors.IsNotAcceptable(err), apierrors.IsUnsupportedMediaType(err), apierrors.IsRequestEntityTooLargeError(err):
		return refused
	case apierrors.IsTooManyRequests(err), apierrors.IsUnauthorized(err), isUndialled(err), isUnadmitted(err):
		return busy
	}
	return lost
}

// isOtherUID says that the API server refused a patch because it bears the UID of another object.
func isOtherUID(err error) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == "metadata.uid" {
			return true
		}
	}
	return false
}

// isUndialled says that a request was never sent, because there was no connection.
func isUndialled(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isUnadmitted says that an admission webhook could not be asked. The API server asks them before it
// stores anything, and answers as if it had an error of its own.
func isUnadmitted(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
}
