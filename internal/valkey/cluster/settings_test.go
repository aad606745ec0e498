package cluster

import (
	"strings"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// What is done about settings, what is said of it, and what servers start with meanwhile.
func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		is     Settings
		change func(w *World)
		want   string
		reason string
		keeps  bool
	}{
		"there are none":       {is: Settings{}},
		"they are not told":    {is: Settings{Print: "p"}, want: "apply-settings at 6 servers", reason: "ApplyingConfig", keeps: true},
		"they are on the way":  {is: Settings{Print: "p", Work: Moving}, reason: "ApplyingConfig", keeps: true},
		"servers have them":    {is: Settings{Print: "p", Work: Ended}, reason: "ConfigApplied"},
		"a server refuses one": {is: Settings{Print: "p", Refused: "web-0-0: hz: argument must be"}, reason: "ConfigRefused", keeps: true},
		"one server is silent": {is: Settings{Print: "p"}, change: func(w *World) { w.Nodes[3].Server = nil },
			want: "apply-settings at 5 servers", reason: "ApplyingConfig", keeps: true},
		"all are silent": {is: Settings{Print: "p"}, change: func(w *World) {
			for i := range w.Nodes {
				w.Nodes[i].Server = nil
			}
		}, reason: "ApplyingConfig", keeps: true},
		"the cluster is being made: servers start with them": {is: Settings{Print: "p"}, change: func(w *World) { w.Formed = false }},
	} {
		t.Run(name, func(t *testing.T) {
			w := clone(made()[len(made())-1].world)
			w.Settings = tc.is
			if tc.change != nil {
				tc.change(&w)
			}
			in := input{Obj: newCluster(), World: w}
			got := ""
			for _, e := range applySettings(in) {
				got += e.String()
			}
			condition, _ := settingsCondition(in)
			if got != tc.want || condition.Reason != tc.reason || w.KeepsSettings() != tc.keeps {
				t.Errorf("%q, %s, %v; want %q, %s, %v", got, condition.Reason, w.KeepsSettings(), tc.want, tc.reason, tc.keeps)
			}
			for _, e := range w.apply(w.Children) {
				if a := e.(ApplyChild); a.Keep != (tc.keeps && a.Child.Kind == KindConfigMap) {
					t.Errorf("%s keeps settings: %v", a, a.Keep)
				}
			}
		})
	}
}

// The condition does not outlive the settings that it was about.
func TestSettingsThatWereRemoved(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	w.Settings = Settings{Print: "p", Refused: "no"}
	refused, _ := settingsCondition(input{Obj: c, World: w})
	c.Status.Conditions = append(c.Status.Conditions, refused)
	w.Settings = Settings{}
	if is, has := settingsCondition(input{Obj: c, World: w}); !has || is.Type != valkeyv1.ConfigApplied || is.Reason != "ConfigApplied" {
		t.Errorf("%+v", is)
	}
}

func TestSameSetting(t *testing.T) {
	for _, c := range []struct {
		name, wanted, is string
		same             bool
	}{
		{"hz", "20", "20", true},
		{"hz", "1000", "500", false},
		{"hz", "20", "", false},
		{"activedefrag", "YES", "yes", true},
		{"proto-max-bulk-len", "1gb", "1073741824", true},
		{"proto-max-bulk-len", "1g", "1000000000", true},
		{"proto-max-bulk-len", "64MB", "67108864", true},
		{"proto-max-bulk-len", "64mb", "64000000", false},
		{"maxmemory-clients", "5%", "5%", true},
		{"notify-keyspace-events", "KEA", "AKE", true},
		{"notify-keyspace-events", "Kg$", "K$g", true},
		{"notify-keyspace-events", "Kg", "K$g", false},
		{"oom-score-adj-values", "0  200 800", "0 200 800", true},
		{"maxmemory-policy", "allkeys-lru", "noeviction", false},
	} {
		if got := SameSetting(c.name, c.wanted, c.is); got != c.same {
			t.Errorf("%s %q and %q: %v", c.name, c.wanted, c.is, got)
		}
	}
	if words := (&Refusal{Words: strings.Repeat("é", 1000)}).Bounded(); len([]rune(words)) > 310 {
		t.Errorf("%d characters", len([]rune(words)))
	}
}
