package kube

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// What is released can be started again elsewhere at once, so it is the very Pod, in the version that was judged.
func TestAPodIsReleasedInTheVersionThatWasJudged(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for what, c := range map[string]struct {
		seen   Seen
		answer error
		class  fsm.ErrorClass // "" is success
		asks   bool
	}{
		"as it was judged":            {Seen{UID: "u1", ResourceVersion: "7"}, nil, "", true},
		"already gone":                {Seen{UID: "u1", ResourceVersion: "7"}, apierrors.NewNotFound(pods, "lamp"), "", true},
		"changed since":               {Seen{UID: "u1", ResourceVersion: "6"}, apierrors.NewConflict(pods, "lamp", errors.New("modified")), fsm.Changed, true},
		"another that has its name":   {Seen{UID: "u0", ResourceVersion: "6"}, apierrors.NewConflict(pods, "lamp", errors.New("another UID")), "", true},
		"one of which no UID is seen": {Seen{ResourceVersion: "7"}, nil, fsm.Refused, false},
		"one of no version":           {Seen{UID: "u1"}, nil, fsm.Refused, false},
	} {
		t.Run(what, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "room", Name: "lamp", UID: "u1"}}
			var asked []client.DeleteOptions
			cl := interceptor.NewClient(fake.NewClientBuilder().WithObjects(pod).Build(), interceptor.Funcs{
				Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, opts ...client.DeleteOption) error {
					asked = append(asked, *(&client.DeleteOptions{}).ApplyOptions(opts))
					return c.answer
				},
			})
			err := Env{Client: cl, Live: cl}.Writer("test").Release(t.Context(), pod.DeepCopy(), c.seen)
			if (err == nil) != (c.class == "") || err != nil && fsm.ClassOf(err) != c.class {
				t.Errorf("%v", err)
			}
			want := []client.DeleteOptions{{
				GracePeriodSeconds: ptr.To(int64(0)),
				Preconditions:      &metav1.Preconditions{UID: &c.seen.UID, ResourceVersion: &c.seen.ResourceVersion},
				PropagationPolicy:  ptr.To(metav1.DeletePropagationBackground),
			}}
			if !c.asks {
				want = nil
			}
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("(-want +asked):\n%s", diff)
			}
		})
	}
}
