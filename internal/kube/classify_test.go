package kube

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func TestClassify(t *testing.T) {
	pods, why := schema.GroupResource{Resource: "pods"}, errors.New("why")
	terminating := apierrors.NewForbidden(pods, "a", why)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for what, c := range map[string]struct {
		err  error
		want fsm.ErrorClass
	}{
		"conflict":              {apierrors.NewConflict(pods, "a", why), fsm.Changed},
		"already there":         {apierrors.NewAlreadyExists(pods, "a"), fsm.Changed},
		"gone":                  {apierrors.NewNotFound(pods, "a"), fsm.Changed},
		"invalid":               {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "a", nil), fsm.Refused},
		"forbidden":             {apierrors.NewForbidden(pods, "a", why), fsm.Refused},
		"its namespace goes":    {terminating, fsm.Transient},
		"the server is busy":    {apierrors.NewTooManyRequests("busy", 1), fsm.Transient},
		"the server is broken":  {apierrors.NewInternalError(why), fsm.Transient},
		"timed out":             {apierrors.NewTimeoutError("slow", 1), fsm.Transient},
		"took too long":         {context.DeadlineExceeded, fsm.Transient},
		"of nobody knows where": {why, fsm.Transient},
		"has a class already":   {fmt.Errorf("act: %w", &fsm.Error{Class: fsm.Refused, Err: why}), fsm.Refused},
	} {
		err := Classify(fmt.Errorf("wrapped: %w", c.err))
		if got := fsm.ClassOf(err); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
	if Classify(nil) != nil {
		t.Error("nothing is an error")
	}
}
