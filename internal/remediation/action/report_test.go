package action

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	r := Report{
		Effect: remediationv1.EffectApplied, Token: "u/done", Affected: 1, After: strings.Repeat("0f", 32),
		Resources: []remediationv1.ResourceAffected{{Kind: "Deployment", Namespace: "shop", Name: "web", Action: "patched", Before: "spec.replicas is 2", After: "spec.replicas is 5"}},
		Warnings:  []string{"<deprecated> & gone"},
	}
	const want = `{"effect":"Applied","token":"u/done","affected":1,"resources":[{"kind":"Deployment","namespace":"shop","name":"web","action":"patched",` +
		`"before":"spec.replicas is 2","after":"spec.replicas is 5"}],"warnings":["<deprecated> & gone"],"after":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}`
	if got := string(r.JSON()); got != want {
		t.Errorf("%s", got)
	}
	got, err := ParseReport(r.JSON())
	if diff := cmp.Diff(r, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// A kubelet cuts a longer message, and a cut message is no JSON: the word of the action would be lost.
func TestAReportFitsWhateverIsInIt(t *testing.T) {
	long := rapid.OneOf(
		rapid.StringN(0, 8000, -1),
		rapid.Map(rapid.SampledFrom([]string{"a", "\x01", "\xff", `"`, "漢", "\u2028"}), func(s string) string { return strings.Repeat(s, 5000) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		r := Report{
			Effect: rapid.SampledFrom([]remediationv1.Effect{remediationv1.EffectApplied, remediationv1.EffectNotApplied, remediationv1.EffectUnknown}).Draw(t, "effect"),
			Token:  "0b2f7c1e-8a1c-4a5e-9d59-3f5f2f8f0f0f/done", Reason: ReasonTargetChanged, After: strings.Repeat("a", 64),
			Error: long.Draw(t, "error"), Affected: rapid.Int32Range(0, 1000).Draw(t, "affected"),
			Warnings: rapid.SliceOfN(long, 0, 30).Draw(t, "warnings"),
		}
		r.Resources = make([]remediationv1.ResourceAffected, rapid.IntRange(0, 40).Draw(t, "resources"))
		for i := range r.Resources {
			r.Resources[i] = remediationv1.ResourceAffected{Kind: "Pod", Namespace: long.Draw(t, "namespace"), Name: long.Draw(t, "name"), Action: "evicted", Before: long.Draw(t, "before")}
		}
		out := r.JSON()
		if len(out) > MaxReport || !json.Valid(out) {
			t.Fatalf("%d bytes: %s", len(out), out)
		}
		got, err := ParseReport(out)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got.Effect != r.Effect || got.Token != r.Token || got.Reason != r.Reason || got.After != r.After || got.Affected != max(r.Affected, int32(len(r.Resources))) {
			t.Errorf("what matters was cut: %s", out)
		}
		if (r.Error != "") != (got.Error != "") && len(got.Resources)+len(got.Warnings) > 1 {
			t.Error("the error went before lists did")
		}
	})
}

func TestAReportOfAnythingFits(t *testing.T) {
	bad := strings.Repeat("\x01", 9000)
	r := Report{Effect: remediationv1.Effect(bad), Token: bad, Reason: bad, After: bad, Error: bad, Warnings: []string{bad},
		Resources: []remediationv1.ResourceAffected{{Kind: bad, Namespace: bad, Name: bad, Action: bad, Before: bad, After: bad}}}
	if out := r.JSON(); len(out) > MaxReport || !json.Valid(out) {
		t.Errorf("%d bytes", len(out))
	}
}

func TestWhatIsNoReportIsRefused(t *testing.T) {
	for say, text := range map[string]string{
		"nothing":                                ``,
		"a log":                                  `panic: runtime error`,
		"a list":                                 `[]`,
		"no effect":                              `{}`,
		"another effect":                         `{"effect":"None"}`,
		"an unknown field":                       `{"effect":"Applied","effects":1}`,
		"two reports":                            `{"effect":"NotApplied"}{"effect":"Applied"}`,
		"text after it":                          `{"effect":"Applied"} done`,
		"a report that was cut":                  `{"effect":"Applied","error":"abc`,
		"a hash that is none":                    `{"effect":"Applied","after":"ABC"}`,
		"a reason that is none":                  `{"effect":"NotApplied","reason":"Because of it"}`,
		"a negative number":                      `{"effect":"Applied","affected":-1}`,
		"more objects than were affected":        `{"effect":"Applied","resources":[{"kind":"Pod","name":"a","action":"deleted"}]}`,
		"a long error":                           `{"effect":"Applied","error":"` + strings.Repeat("x", 1025) + `"}`,
		"a long warning":                         `{"effect":"Applied","warnings":["` + strings.Repeat("x", 513) + `"]}`,
		"many warnings":                          `{"effect":"Applied","warnings":["a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a"]}`,
		"a report that is longer than it may be": `{"effect":"Applied"` + strings.Repeat(" ", 4096) + `}`,
	} {
		t.Run(say, func(t *testing.T) {
			if r, err := ParseReport([]byte(text)); err == nil || r.Effect != "" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	if _, err := ParseReport([]byte(" {\"effect\":\"Unknown\"}\n")); err != nil {
		t.Errorf("space around it: %v", err)
	}
}

// Whatever a pod says, it is read or refused; what is read is within the bounds of a status.
func FuzzParseReport(f *testing.F) {
	f.Add(`{"effect":"Applied","token":"u/done","affected":1}`)
	f.Add(`{"effect":"NotApplied","error":"\ud800","warnings":["\u0001"]}`)
	f.Add(`{"effect":"Unknown","affected":2147483648}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReport([]byte(text))
		if err != nil {
			return
		}
		if len(r.Error) > maxError || len(r.Resources) > maxResources || len(r.Warnings) > maxWarnings || len(r.Token) > maxToken {
			t.Errorf("beyond its bounds: %+v", r)
		}
		if again, err := ParseReport(r.JSON()); err != nil || again.Effect != r.Effect || again.After != r.After {
			t.Errorf("read again: %+v, %v", again, err)
		}
	})
}
