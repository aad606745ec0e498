package read

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/presence"
)

// answers is a server that says one thing.
type answers struct {
	client.Reader
	uid types.UID
	err error
}

func (a answers) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	obj.SetUID(a.uid)
	return a.err
}

func TestFind(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	gone := apierrors.NewNotFound(pods, "a")
	unserved := apierrors.NewGenericServerResponse(404, "get", pods, "a", "404 page not found", 0, true)
	noMatch := &apimeta.NoKindMatchError{}
	for what, c := range map[string]struct {
		says answers
		want presence.State
		why  presence.Blindness
	}{
		"is there":                        {answers{uid: "u1"}, presence.Here, ""},
		"has another UID":                 {answers{uid: "u2"}, presence.Other, ""},
		"is gone":                         {answers{err: gone}, presence.Gone, ""},
		"is of a kind that is not served": {answers{err: unserved}, presence.Unknown, presence.Unserved},
		"is of a kind that is not known":  {answers{err: noMatch}, presence.Unknown, presence.Unserved},
		"may not be read":                 {answers{err: apierrors.NewForbidden(pods, "a", nil)}, presence.Unknown, presence.Forbidden},
		"cannot be read just now":         {answers{err: errors.New("connection refused")}, presence.Unknown, presence.Unreadable},
	} {
		is, err := Find(t.Context(), Live{Reader: c.says}, Key{Namespace: "shop", Name: "a"}, &corev1.Pod{}, Is[*corev1.Pod]("u1"))
		if is != c.want || (err != nil) != (c.want == presence.Unknown) {
			t.Errorf("an object that %s is %s: %v", what, is, err)
		}
		if err == nil {
			continue
		}
		if why := Blindness(err); why != c.why || why.Lasts() != (c.why != presence.Unreadable) {
			t.Errorf("an object that %s is not seen because %s", what, why)
		}
	}
	if is, err := Find(t.Context(), Live{Reader: answers{uid: "u2"}}, Key{Name: "a"}, &corev1.Pod{}, nil); err != nil || is != presence.Here {
		t.Errorf("any will do: %s, %v", is, err)
	}
}
