package explain

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

var now = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func ready(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: fsm.Ready, Status: status, Reason: reason, Message: message, LastTransitionTime: ago(time.Hour)}}
}

// waiting is an object that waits, as a manager of the same version wrote it an hour ago.
func waiting() Facts {
	since := ago(time.Hour)
	return Facts{
		Area: "valkey", Namespace: "shop", Name: "web", Generation: 1, Created: since, Now: now,
		Table: Table{Kind: "Lamp", Hash: "h", Phases: map[fsm.Phase]Rule{
			"On":  {Doc: "It shines.", Late: "Late", Ways: []fsm.Edge{{From: "On", On: "Late", To: "Off"}}},
			"Off": {Doc: "It does not.", Final: true},
		}},
		Progress: meta.Progress{
			Place: meta.Place{Phase: "On", Since: since}, Reason: "Dark", WaitingFor: "Waiting for light.",
			ObservedGeneration: 1, MachineHash: "h", Conditions: ready(metav1.ConditionFalse, "Dark", "Waiting for light."),
		},
	}
}

func TestWhichReason(t *testing.T) {
	for name, tc := range map[string]struct {
		of   meta.Progress
		want string
	}{
		"of what is awaited":                        {meta.Progress{Reason: "R", WaitingFor: "w"}, "R w"},
		"of one that wrote no reason yet":           {meta.Progress{WaitingFor: "w", Conditions: ready("False", "C", "w")}, "C w"},
		"of a request that wrote no reason yet":     {meta.Progress{WaitingFor: "w", History: []meta.Transition{{Reason: "H"}}}, "H w"},
		"of what cannot be seen":                    {meta.Progress{Reason: "R", WaitingFor: "w", Conditions: ready("Unknown", "CannotObserve", "c")}, "CannotObserve c"},
		"of the end":                                {meta.Progress{Reason: "C", Conditions: ready("False", "C", "c")}, "C c"},
		"of the last move, where nothing else says": {meta.Progress{Reason: "H", History: []meta.Transition{{Reason: "H", Message: "h"}}}, "H h"},
		"of nothing":                                {meta.Progress{}, " "},
	} {
		if reason, words := whyOf(tc.of); reason+" "+words != tc.want {
			t.Errorf("%s: %s %s, want %s", name, reason, words, tc.want)
		}
	}
}

func TestAsWished(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Facts)
		want   bool
	}{
		"ready":                {func(*Facts) {}, true},
		"not ready":            {func(f *Facts) { f.Progress.Conditions = ready("False", "C", "c") }, false},
		"not looked at":        {func(f *Facts) { f.Progress = meta.Progress{} }, false},
		"ready, but held":      {func(f *Facts) { f.Progress.WaitingFor = "w" }, false},
		"ready, and edited":    {func(f *Facts) { f.Generation = 2 }, false},
		"ready, but going":     {func(f *Facts) { f.Deleted = &metav1.Time{Time: now} }, false},
		"an unknown phase":     {func(f *Facts) { f.Progress.Phase = "Dim" }, false},
		"refused":              {func(f *Facts) { f.Events = []Event{{At: ago(0), Reason: moveRefused}} }, false},
		"nothing can be known": {func(f *Facts) { f.Progress.Conditions = ready("Unknown", "C", "c") }, false},
	} {
		f := waiting()
		f.Progress.WaitingFor, f.Progress.Conditions = "", ready("True", "Lit", "It shines.")
		tc.change(&f)
		if got := Why(f).AsWished; got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestManager(t *testing.T) {
	lease := Leader{Lease: "platform/statecraft-valkey", Found: true, Holder: "x", Renewed: now.Add(-time.Minute), Duration: 15 * time.Second}
	alive, released, hidden, missing := lease, lease, lease, lease
	alive.Renewed, released.Holder = now.Add(-time.Second), ""
	elsewhere := released
	elsewhere.Hidden = true
	hidden.Hidden, hidden.Found, missing.Found = true, false, false
	late := func(f *Facts) { f.Progress.Deadline = &metav1.Time{Time: now.Add(-time.Hour)} }
	for name, tc := range map[string]struct {
		leader Leader
		change func(*Facts)
		dead   bool
		words  string
	}{
		"one leads":                              {alive, nil, false, ""},
		"one leads, and is late":                 {alive, late, false, ""},
		"its Lease has run out":                  {lease, nil, true, "No manager of area valkey leads since 2026-05-17 09:29:00Z"},
		"it was released":                        {released, nil, true, "nothing changes until one does"},
		"it was released, and others are hidden": {elsewhere, nil, true, "name its namespace with --system-namespace"},
		"there is no Lease":                      {missing, nil, true, "There is no Lease platform/statecraft-valkey"},
		"nobody may look":                        {hidden, nil, false, "You may not read Lease platform/statecraft-valkey"},
		"nobody may look, and it is late":        {hidden, late, true, "perhaps no manager runs"},
		"nobody may look, and it just wrote":     {hidden, func(f *Facts) { f.Progress.Since = ago(time.Second) }, false, ""},
		"nobody looked, and it is late":          {Leader{}, late, true, "perhaps no manager runs"},
		"nobody looked":                          {Leader{}, nil, false, ""},
		"a hold stops the clock":                 {Leader{}, func(f *Facts) { late(f); h := ago(time.Hour); f.Progress.HeldSince = &h }, false, ""},
		"a hold puts off the next try": {Leader{}, func(f *Facts) {
			h := ago(time.Hour)
			f.Progress.RetryAt, f.Progress.HeldSince = &h, &h
		}, false, ""},
		"it was never looked at": {Leader{}, func(f *Facts) { f.Progress = meta.Progress{} }, true, "perhaps no manager runs"},
		"the next try is late":   {Leader{}, func(f *Facts) { h := ago(time.Hour); f.Progress.RetryAt = &h }, true, "perhaps no manager runs"},
	} {
		f := waiting()
		f.Leader = tc.leader
		f.Table.Kind, f.Progress.Reason = "ValkeyCluster", "Paused" // for which somebody else must act
		if tc.change != nil {
			tc.change(&f)
		}
		dead, words := f.manager()
		if dead != tc.dead || !strings.Contains(words, tc.words) || (words == "") != (tc.words == "") {
			t.Errorf("%s: %t %q", name, dead, words)
		}
		if acts := Why(f).Acts; dead && acts[0] != "the platform team" {
			t.Errorf("%s: %v act", name, acts)
		}
	}
}

// What was as wished is not known to be so any more when no manager looks at it.
func TestAsLastSeen(t *testing.T) {
	f := waiting()
	f.Progress.WaitingFor, f.Progress.Conditions = "", ready("True", "Lit", "It shines.")
	f.Leader = Leader{Lease: "platform/statecraft-valkey", Found: true, Renewed: now.Add(-3 * time.Hour), Duration: 15 * time.Second}
	a := Why(f)
	if a.AsWished || a.Acts[0] != "the platform team" || a.ReadOn != "docs/runbooks/statecraft.md#no-leader" || a.Manager == "" {
		t.Errorf("%+v", a)
	}
	if want := "was as wished when a manager last saw it, at 2026-05-17 06:30:00Z"; !strings.Contains(a.Summary, want) {
		t.Error(a.Summary)
	}
	if r := Status(f); r.AsWished || r.Summary != a.Summary || r.Manager != a.Manager {
		t.Errorf("%+v", r)
	}
	var o Overview
	o.Add("Lamp", []Facts{f, f})
	if all, wished, _ := o.AsWished(); all || wished > 0 || len(o.Notes) != 1 || o.Kinds[0].Rows[0].WaitingFor != "Waiting for a manager of area valkey." {
		t.Errorf("%+v", o)
	}
}

// What happens next is told only by the machine that wrote the status.
func TestAnotherVersion(t *testing.T) {
	f := waiting()
	f.Progress.Deadline = &metav1.Time{Time: now.Add(time.Hour)}
	if a := Why(f); len(a.Next) != 1 || !strings.Contains(a.Until[0], "Late then leads to Off") || len(a.Notes) != 0 {
		t.Errorf("%q %q %q", a.Next, a.Until, a.Notes)
	}
	f.Progress.MachineHash = "other"
	a := Why(f)
	if len(a.Next) != 0 || strings.Contains(a.Until[0], "leads to") || !strings.Contains(a.Notes[0], "of another version") {
		t.Errorf("%q %q %q", a.Next, a.Until, a.Notes)
	}
}

// A phase that only the plugin does not know is no fault; one that the manager refuses is.
func TestUnknownPhase(t *testing.T) {
	f := waiting()
	f.Progress.Phase, f.Progress.Reason, f.Progress.MachineHash = "Dim", "Paused", "newer"
	f.Area, f.Table.Kind, f.Kinds = "valkey", "ValkeyCluster", []string{"ValkeyCluster"}
	if a := Why(f); a.ReadOn != "docs/runbooks/valkey.md#paused" || !strings.Contains(a.Notes[1], "does not know phase Dim") {
		t.Errorf("%s %q", a.ReadOn, a.Notes)
	}
	f.Events = []Event{{At: ago(0), Reason: moveRefused}}
	if a := Why(f); a.ReadOn != "docs/runbooks/statecraft.md#machine-fault" || a.Acts[0] != "the platform team" {
		t.Errorf("%s %q", a.ReadOn, a.Acts)
	}
	f.Events[0].At = ago(2 * time.Hour) // of a phase that was left since
	if a := Why(f); a.ReadOn != "docs/runbooks/valkey.md#paused" {
		t.Error(a.ReadOn)
	}
}

func TestRead(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "up", "generation": int64(3)},
		"status": map[string]any{
			"phase": "On", "failures": int64(2), "size": int64(6), "observedGeneration": int64(-1),
			"bulbs": []any{map[string]any{"index": int64(0), "phase": "Hot", "since": "2026-05-17T09:00:00Z"}},
		},
	}}
	var f Facts
	if err := f.Read(obj, []Shown{{"Size", "status.size"}, {"Gone", "status.gone"}}, Parts{"bulbs", "index", "Bulb"}); err != nil {
		t.Fatal(err)
	}
	if f.Progress.Phase != "On" || f.Progress.Failures != 2 || len(f.Figures) != 1 || f.Figures[0].Value != "6" {
		t.Errorf("%+v", f)
	}
	if len(f.Lanes) != 1 || f.Lanes[0].Name != "Bulb 0" || f.Lanes[0].Phase != "Hot" || f.Lanes[0].Since.Minute() != 0 {
		t.Errorf("%+v", f.Lanes)
	}
	obj.Object["status"] = "text"
	if err := f.Read(obj, nil, Parts{}); err == nil {
		t.Error("a status that is none is read")
	}
}
