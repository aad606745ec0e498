package reserve

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// A mark is what the target bears, whoever holds it: who takes or releases it leaves the mark there.
func TestAMarkOfAFact(t *testing.T) {
	x1, x2 := &Unresolved{By: Ref{Kind: "Lamp.test", Name: "x1", UID: "1"}, Requester: "dora"}, &Unresolved{By: Ref{Kind: "Lamp.test", Name: "x2", UID: "2"}}
	unreadable := &Unresolved{}
	for name, c := range map[string]struct {
		is   Fact
		do   fsm.Effect
		want Fact
	}{
		"a target is marked":                  {Fact{State: Ours}, MarkUnresolved{Requester: "dora"}, Fact{State: Ours, Unresolved: &Unresolved{Requester: "dora"}}},
		"a free target is marked":             {Fact{State: Free}, MarkUnresolved{}, Fact{State: Free, Unresolved: &Unresolved{}}},
		"a mark of another is left":           {Fact{State: Ours, Unresolved: x1}, MarkUnresolved{Requester: "bob"}, Fact{State: Ours, Unresolved: x1}},
		"a marked target is taken":            {Fact{State: Free, Unresolved: x1}, Take{}, Fact{State: Ours, Unresolved: x1}},
		"a marked target is released":         {Fact{State: Ours, Unresolved: x1}, Release{}, Fact{State: Free, Unresolved: x1}},
		"a mark is removed":                   {Fact{State: Free, Unresolved: x1}, Resolve{Of: "1"}, Fact{State: Free}},
		"a mark of another is not removed":    {Fact{State: Free, Unresolved: x2}, Resolve{Of: "1"}, Fact{State: Free, Unresolved: x2}},
		"a mark is removed while others hold": {Fact{State: Others, Holder: "bob", Unresolved: x1}, Resolve{Of: "1"}, Fact{State: Others, Holder: "bob"}},
		"a mark that cannot be read is kept":  {Fact{State: Free, Unresolved: unreadable}, Resolve{}, Fact{State: Free, Unresolved: unreadable}},
		"there is no mark to remove":          {Fact{State: Ours}, Resolve{Of: "1"}, Fact{State: Ours}},
	} {
		if diff := cmp.Diff(c.want, c.is.After(c.do)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAMarkSurvivesItsLease(t *testing.T) {
	by := Ref{Kind: "KubernetesExecution.remediation.statecraft.dev", Namespace: "shop", Name: "fix", UID: "1-2"}
	for text, want := range map[string]Unresolved{
		`{"by":"KubernetesExecution.remediation.statecraft.dev/shop/fix/1-2","requester":"dora"}`: {By: by, Requester: "dora"},
		`{"by":"KubernetesExecution.remediation.statecraft.dev/shop/fix/1-2"}`:                    {By: by},
		`{"by":""}`: {},
	} {
		var got Unresolved
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %+v: %v", text, got, err)
		}
		if back, err := json.Marshal(want); err != nil || string(back) != text {
			t.Errorf("%+v is written as %s: %v", want, back, err)
		}
	}
	for _, text := range []string{"", "{", `"dora"`, `{"by":"fix"}`, `{"by":1}`} {
		if err := json.Unmarshal([]byte(text), &Unresolved{}); err == nil {
			t.Errorf("%q is taken for a mark", text)
		}
	}
}
