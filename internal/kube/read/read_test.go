package read

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRefSurvivesItsLease(t *testing.T) {
	for _, ref := range []Ref{
		{Kind: "ValkeyUpgrade.valkey.statecraft.dev", Namespace: "shop", Name: "to-8", UID: "1-2"},
		{Kind: "ObjectKeeper.capture.statecraft.dev", Name: "cluster-wide", UID: "3"},
		{Kind: "PersistentVolumeClaim.", Namespace: "shop", Name: "data", UID: "4"},
	} {
		if got, err := ParseRef(ref.String()); err != nil || got != ref {
			t.Errorf("%+v became %+v: %v", ref, got, err)
		}
	}
	for _, s := range []string{"", "a", "a/b/c", "/b/c/d", "a/b//d", "a/b/c/", "a/b/c/d/e"} {
		if got, err := ParseRef(s); err == nil {
			t.Errorf("%q is taken for %+v", s, got)
		}
	}
}

func TestRefTitle(t *testing.T) {
	for want, ref := range map[string]Ref{
		"ValkeyUpgrade shop/to-8":   {Kind: "ValkeyUpgrade.valkey.statecraft.dev", Namespace: "shop", Name: "to-8"},
		"ObjectKeeper cluster-wide": {Kind: "ObjectKeeper.capture.statecraft.dev", Name: "cluster-wide"},
	} {
		if got := ref.Title(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSaysGone(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	gone := apierrors.NewNotFound(pods, "a")
	unserved := apierrors.NewGenericServerResponse(404, "get", pods, "a", "404 page not found", 0, true)
	for what, c := range map[string]struct {
		err  error
		name string
		want bool
	}{
		"a 404 that names it":      {fmt.Errorf("read: %w", gone), "a", true},
		"a 404 that names another": {gone, "b", false},
		"a kind that is not there": {unserved, "a", false},
		"no name":                  {apierrors.NewNotFound(pods, ""), "", false},
		"forbidden":                {apierrors.NewForbidden(pods, "a", nil), "a", false},
		"anything else":            {errors.New("connection refused"), "a", false},
		"no error":                 {nil, "a", false},
	} {
		if got := SaysGone(c.err, c.name); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
