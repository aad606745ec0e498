package execution

import (
	"strings"
	"testing"
	"time"
)

// TestDecisionsThatDoNotCount are named, with the reason; however many there are, they do not hide what is awaited.
func TestDecisionsThatDoNotCount(t *testing.T) {
	decided := func(name, by, token string, after time.Duration) Decision {
		return Decision{Name: name, By: by, Token: token, At: createdAt.Add(after), Until: createdAt.Add(time.Hour)}
	}
	aside := func(name string, after time.Duration) SetAside {
		return SetAside{Name: name, By: "olaf", Why: "that user may not approve the execution", At: createdAt.Add(after)}
	}
	const olaf = " ExecutionApproval one of user olaf does not count: that user may not approve the execution."
	over := decided("old", "olga", approvedToken(), 0)
	over.Until = createdAt.Add(time.Second)
	for name, tc := range map[string]struct {
		decisions []Decision
		aside     []SetAside
		want      string
	}{
		"none":                        {},
		"one that counts":             {[]Decision{decided("ok", "olga", approvedToken(), 0)}, nil, ""},
		"one by a person who may not": {nil, []SetAside{aside("one", 0)}, olaf},
		"one about another plan":      {[]Decision{decided("b", "olga", "other", 0)}, nil, " ExecutionApproval b of user olga does not count: it quotes another plan."},
		"one by the requester":        {[]Decision{decided("own", "dora", approvedToken(), 0)}, nil, " ExecutionApproval own of user dora does not count: that user asked for the execution."},
		"one that is over":            {[]Decision{over}, nil, " ExecutionApproval old of user olga does not count: it ended at 2023-11-14T22:13:21Z."},
		"a stranger's come last, and the newest first": {[]Decision{decided("b", "olga", "other", 0)}, []SetAside{aside("zero", 0), aside("one", time.Minute)},
			" ExecutionApproval b of user olga does not count: it quotes another plan." + olaf + " Nor do 1 others."},
		"a user with a long name": {nil, []SetAside{{Name: "one", By: strings.Repeat("ü", 2000), Why: "it is so"}},
			" ExecutionApproval one of user " + strings.Repeat("ü", 63) + "… does not count: it is so."},
	} {
		x, w := object(), asked().World()
		x.Status.Plan = w.Look.Plan
		w.Decisions, w.SetAside = tc.decisions, tc.aside
		in := input{Obj: x, World: w, Now: createdAt.Add(2 * time.Second)}
		if got := setAside(in); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestADecisionThatIsSetAsideDecidesNothing, be it an approval or a rejection.
func TestADecisionThatIsSetAsideDecidesNothing(t *testing.T) {
	x, w := object(), asked().World()
	x.Status.Plan = w.Look.Plan
	w.Decisions, w.SetAside = nil, []SetAside{{Name: "one", By: "olaf", Why: "that user may not approve the execution"}}
	if c := judge(input{Obj: x, World: w, Now: createdAt.Time}); c.approved() || c.rejected() {
		t.Errorf("%+v", c.Verdict)
	}
}
