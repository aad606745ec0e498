package reserve

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/fsm"
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

func TestRefOf(t *testing.T) {
	kind := schema.GroupKind{Group: "valkey.statecraft.dev", Kind: "ValkeyUpgrade"}
	ref := RefOf(kind, &metav1.ObjectMeta{Namespace: "shop", Name: "to-8", UID: "1"})
	if !ref.Is(kind) || ref.Is(schema.GroupKind{Kind: "ValkeyUpgrade"}) || ref.String() != "ValkeyUpgrade.valkey.statecraft.dev/shop/to-8/1" {
		t.Errorf("%+v", ref)
	}
	if core := RefOf(schema.GroupKind{Kind: "Pod"}, &metav1.ObjectMeta{Name: "a", UID: "1"}); !core.Is(schema.GroupKind{Kind: "Pod"}) {
		t.Errorf("%+v", core)
	}
}

type unrelated struct{}

func (unrelated) String() string { return "unrelated" }

func TestFact(t *testing.T) {
	for _, c := range []struct {
		is   State
		do   fsm.Effect
		want State
	}{
		{Free, Take{}, Ours}, {Ours, Take{}, Ours}, {Others, Take{}, Others}, {"", Take{}, ""},
		{Ours, Release{}, Free}, {Others, Release{}, Others}, {Free, Release{}, Free},
		{Free, unrelated{}, Free},
	} {
		if got := (Fact{State: c.is}).After(c.do).State; got != c.want {
			t.Errorf("%s after %s is %s, want %s", c.is, c.do, got, c.want)
		}
	}
	if who, held := (Fact{State: Others, Holder: "bob"}).Held("the lamp"); !held || who != "Waiting for bob, which has reserved the lamp, to release it." {
		t.Errorf("%q, %t", who, held)
	}
	if _, held := (Fact{State: Free}).Held("the lamp"); held {
		t.Error("a free target is held")
	}
}
