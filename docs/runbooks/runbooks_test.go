package runbooks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = "# Runbook: lamps\n\nWords.\n\n## Lamp\n\n### Dark, Dim\nActs: Statecraft, the platform team\n\nSee\n[Dark](#dark), and wait.\n\n" +
	"```console\n### not a heading\n```\n\n### Hot\nActs: the owner of the object\n\nCool it.\n\n## Bell: loud\n\n### Hot\n\nNobody.\n"

func TestParse(t *testing.T) {
	got, err := Parse("lamps", page)
	if err != nil {
		t.Fatal(err)
	}
	want := []Section{
		{Page: "lamps", Chapter: "Lamp", Title: "Lamp", Anchor: "lamp"},
		{Page: "lamps", Chapter: "Lamp", Title: "Dark, Dim", Anchor: "dark-dim", Acts: []string{"Statecraft", "the platform team"},
			Text: []string{"See\n[Dark](#dark), and wait.", "```console\n### not a heading\n```"}},
		{Page: "lamps", Chapter: "Lamp", Title: "Hot", Anchor: "hot", Acts: []string{"the owner of the object"}, Text: []string{"Cool it."}},
		{Page: "lamps", Chapter: "Bell: loud", Title: "Bell: loud", Anchor: "bell-loud"},
		{Page: "lamps", Chapter: "Bell: loud", Title: "Hot", Anchor: "hot-1", Text: []string{"Nobody."}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if advice := got[1].Advice(); advice != "See Dark, and wait." {
		t.Errorf("advice %q", advice)
	}
	if diff := cmp.Diff([]string{"Dark", "Dim"}, got[1].Reasons()); diff != "" {
		t.Error(diff)
	}
	if at := got[1].Link(); at != "docs/runbooks/lamps.md#dark-dim" {
		t.Error(at)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"somebody else":             {"## Dark\nActs: somebody\n", "is none of"},
		"a line further below":      {"## Dark\n\nActs: Statecraft\n", "directly below"},
		"a second line":             {"## Dark\nActs: Statecraft\nActs: Statecraft\n", "directly below"},
		"actors with another comma": {"## Dark\nActs: Statecraft,the platform team\n", "is none of"},
	} {
		if _, err := Parse("lamps", tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// The runbook of the kind is asked first, then that of its area, then that of all.
func TestFind(t *testing.T) {
	kinds := []string{"ValkeyCluster", "ValkeyUpgrade"}
	for name, tc := range map[string]struct {
		kind, reason, want string
	}{
		"the kind's own":        {"ValkeyCluster", "NotApproved", "docs/runbooks/valkey.md#notapproved"},
		"another kind's own":    {"ValkeyUpgrade", "NotApproved", "docs/runbooks/valkey.md#notapproved-1"},
		"of every area":         {"ValkeyUpgrade", "QuotaExceeded", "docs/runbooks/statecraft.md#quotaexceeded"},
		"not of the other kind": {"ValkeyUpgrade", "DataLost", ""},
		"unknown":               {"ValkeyUpgrade", "Nonsense", ""},
	} {
		s, found := Find("valkey", tc.kind, tc.reason, kinds...)
		if found != (tc.want != "") || found && s.Link() != tc.want {
			t.Errorf("%s: %s, %t, want %q", name, s.Link(), found, tc.want)
		}
	}
	if s, found := Find("capture", "VolumeCaptureRequest", "NotFound", "VolumeCaptureRequest"); !found || s.Chapter != "All requests" {
		t.Errorf("of the area: %+v", s)
	}
}
