package read

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statecraft-dev/statecraft/internal/child"
)

const stamp child.Stamp = "example.com/applied"

func configMap(uid, text string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Data: map[string]string{"file": "ours"}}
	stamp.Put(c, c)
	c.UID, c.Data["file"] = types.UID(uid), text
	return c
}

// State is what a child is to its controller: what the cache shows, unless it differs, and then what is there now.
func TestStateOfAChild(t *testing.T) {
	other := configMap("u1", "ours")
	other.Annotations[string(stamp)] = "former"
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		cached, live *corev1.ConfigMap
		stamped      bool
		edited       string
	}{
		"as applied":                   {configMap("u1", "ours"), nil, true, ""},
		"built as something else":      {other, nil, false, ""},
		"edited":                       {configMap("u1", "theirs"), configMap("u1", "theirs"), true, ".data.file is missing"},
		"edited, and made what it was": {configMap("u1", "theirs"), configMap("u1", "ours"), true, ""},
		"edited, and made anew":        {configMap("u1", "theirs"), configMap("u2", "theirs"), true, ""},
		"edited, and deleted":          {configMap("u1", "theirs"), nil, true, ""},
	} {
		b := fake.NewClientBuilder().WithScheme(scheme)
		if c.live != nil {
			b = b.WithObjects(c.live)
		}
		is, err := Children{Live: Live{Reader: b.Build()}, Manager: "m", Stamp: stamp}.State(t.Context(), configMap("", "ours"), c.cached)
		if err != nil || is.Stamped != c.stamped || is.Edited() != c.edited {
			t.Errorf("%s: %+v: %v", what, is, err)
		}
	}
}

// At rest nothing is read.
func TestAChildAtRestIsNotRead(t *testing.T) {
	is, err := Children{Live: Live{Reader: unread{t: t}}, Stamp: stamp}.State(t.Context(), configMap("", "ours"), configMap("u1", "ours"))
	if err != nil || !is.Stamped || len(is.Edits) > 0 {
		t.Errorf("%+v: %v", is, err)
	}
}

type unread struct {
	client.Reader
	t *testing.T
}

func (u unread) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	u.t.Error("it is read live")
	return nil
}
