package approval

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	shown = Plan{UID: "u1", Generation: 3, Digest: Digest("scale", "3"), AskedBy: "ann"}
	noon  = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	terms = Terms{Default: time.Hour, Longest: 24 * time.Hour}
)

func TestATokenIsOfOnePlan(t *testing.T) {
	for name, other := range map[string]Plan{
		"another object":                   {UID: "u2", Generation: 3, Digest: shown.Digest},
		"another generation":               {UID: "u1", Generation: 4, Digest: shown.Digest},
		"something else was shown":         {UID: "u1", Generation: 3, Digest: Digest("scale", "30")},
		"parts that read alike":            {UID: "u1", Generation: 3, Digest: Digest("scale3")},
		"parts in another order":           {UID: "u1", Generation: 3, Digest: Digest("3", "scale")},
		"one part that reads like two":     {UID: "u1", Generation: 3, Digest: Digest("scale/3")},
		"an object without a UID":          {Generation: 3, Digest: shown.Digest},
		"a plan of which nothing is known": {UID: "u1", Generation: 3},
	} {
		if other.Token() == shown.Token() || other.Names(shown.Token()) {
			t.Errorf("%s: the approval covers it, too", name)
		}
	}
	if !shown.Names(shown.Token()) {
		t.Error("the approval does not cover its own plan")
	}
	for _, wrong := range []string{"", shown.Token()[:10], shown.Token() + "0", shown.Digest} {
		if shown.Names(wrong) {
			t.Errorf("%q is taken for its token", wrong)
		}
	}
	if (Plan{}).Names("") {
		t.Error("an empty token approves no plan")
	}
}

// TestTokensDiffer looks for two plans with one token.
func TestTokensDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringMatching(`[ab/]{0,3}`), 0, 4)
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		same := cmp.Equal(append([]string{}, a...), append([]string{}, b...))
		if (Digest(a...) == Digest(b...)) != same {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

func TestJudge(t *testing.T) {
	yes := Decision{By: "bob", Token: shown.Token(), At: noon}
	with := func(change func(*Decision)) Decision {
		d := yes
		change(&d)
		return d
	}
	no := with(func(d *Decision) { d.By, d.Rejects = "eve", true })
	other := with(func(d *Decision) { d.Token = Plan{UID: "u1", Generation: 2, Digest: shown.Digest}.Token() })
	for name, tc := range map[string]struct {
		decisions []Decision
		after     time.Duration
		want      Verdict
	}{
		"nobody decided": {want: Verdict{State: Waiting, Why: "no person has approved this plan"}},
		"it is approved": {[]Decision{yes}, 59 * time.Minute,
			Verdict{Approved, "bob", noon.Add(time.Hour), "bob approved the plan until 2026-11-17T13:00:00Z"}},
		"an hour is over": {[]Decision{yes}, time.Hour,
			Verdict{Expired, "bob", noon.Add(time.Hour), "the approval by bob ended at 2026-11-17T13:00:00Z"}},
		"it says until when": {[]Decision{with(func(d *Decision) { d.Until = noon.Add(time.Minute) })}, time.Minute,
			Verdict{Expired, "bob", noon.Add(time.Minute), "the approval by bob ended at 2026-11-17T12:01:00Z"}},
		"nobody approves for ever": {[]Decision{with(func(d *Decision) { d.Until = noon.AddDate(1, 0, 0) })}, 24 * time.Hour,
			Verdict{Expired, "bob", noon.Add(24 * time.Hour), "the approval by bob ended at 2026-11-18T12:00:00Z"}},
		"another plan was approved":     {[]Decision{other}, 0, Verdict{State: Waiting, Why: "no person has approved this plan; 1 decisions are about other plans"}},
		"another plan was rejected":     {[]Decision{with(func(d *Decision) { d.Token, d.Rejects = other.Token, true })}, 0, Verdict{State: Waiting, Why: "no person has approved this plan; 1 decisions are about other plans"}},
		"who asked approved":            {[]Decision{with(func(d *Decision) { d.By = "ann" })}, 0, Verdict{State: Waiting, Why: "no person has approved this plan"}},
		"nobody in particular approved": {[]Decision{with(func(d *Decision) { d.By = "" })}, 0, Verdict{State: Waiting, Why: "no person has approved this plan"}},
		"who asked rejected":            {[]Decision{with(func(d *Decision) { d.By, d.Rejects = "ann", true }), yes}, 0, Verdict{State: Rejected, By: "ann", Why: "ann rejected the plan"}},
		"one rejects":                   {[]Decision{no, yes}, 0, Verdict{State: Rejected, By: "eve", Why: "eve rejected the plan"}},
		"one rejects later":             {[]Decision{yes, no}, 0, Verdict{State: Rejected, By: "eve", Why: "eve rejected the plan"}},
		"a rejection does not expire":   {[]Decision{no}, 1000 * time.Hour, Verdict{State: Rejected, By: "eve", Why: "eve rejected the plan"}},
		"one that does not say when":    {[]Decision{with(func(d *Decision) { d.At = time.Time{} })}, 0, Verdict{Expired, "bob", time.Time{}, "the approval by bob ended at 0001-01-01T00:00:00Z"}},
		"of two the one that lasts counts": {[]Decision{yes, with(func(d *Decision) { d.By, d.Until = "eve", noon.Add(3*time.Hour) })}, 2 * time.Hour,
			Verdict{Approved, "eve", noon.Add(3 * time.Hour), "eve approved the plan until 2026-11-17T15:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Judge(shown, tc.decisions, terms, noon.Add(tc.after))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhereNobodyAskedAnybodyApproves(t *testing.T) {
	p := shown
	p.AskedBy = ""
	if v := Judge(p, []Decision{{By: "ann", Token: p.Token(), At: noon}}, terms, noon); v.State != Approved {
		t.Errorf("%+v", v)
	}
}
