package kube

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Classify gives an error of the API server its class: whether it helps to try again; and,
// where somebody refuses, the reason and words that name that part and what to do. An error
// that has a class already keeps it.
func Classify(err error) error { return classify(err, "the request") }

// classify names what an answer is about where the answer itself does not: that of a webhook has no details.
func classify(err error, what string) error {
	if err == nil || errors.As(err, new(*fsm.Error)) {
		return err
	}
	class := fsm.Transient
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The object goes with its namespace in a moment: nothing to give up over.
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err), apierrors.IsGone(err):
		class = fsm.Changed
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err),
		apierrors.IsMethodNotSupported(err), apierrors.IsRequestEntityTooLargeError(err):
		class = fsm.Refused
	}
	reason, say := refusal(err, what)
	return &fsm.Error{Class: class, Err: err, Reason: reason, Say: say}
}
