package load

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

var now = time.Unix(1e9, 0)

// seen are facts that leave no doubt.
func seen() Facts {
	return Facts{
		Traffic: Measured, RPS: 100, PeakRPS: 120, Variation: 0.1, Latency: 200 * time.Millisecond, Pods: 5,
		SampledAt: now.Add(-20 * time.Second), Coverage: 1, LeastCoverage: 1, Window: 2 * time.Minute, Interval: 15 * time.Second,
	}
}

func TestDoubts(t *testing.T) {
	old := Pods{Ready: 5, Youngest: time.Hour}
	for name, tc := range map[string]struct {
		change       func(*Facts, *Pods)
		grow, shrink string // parts of the doubt
	}{
		"everything was seen":                          {func(*Facts, *Pods) {}, "", ""},
		"no pod is scraped":                            {func(f *Facts, _ *Pods) { f.Traffic = Unknown }, "No pod", "No pod"},
		"samples are three intervals old":              {func(f *Facts, _ *Pods) { f.SampledAt = now.Add(-45 * time.Second) }, "", ""},
		"samples are older":                            {func(f *Facts, _ *Pods) { f.SampledAt = now.Add(-46 * time.Second) }, "older than 45s", "older than 45s"},
		"four of five ready pods are scraped":          {func(f *Facts, _ *Pods) { f.Pods = 4 }, "", ""},
		"three of five ready pods are scraped":         {func(f *Facts, _ *Pods) { f.Pods = 3 }, "Fewer than 80 %", "Fewer than 80 %"},
		"no series yet, or none of this name":          {func(f *Facts, _ *Pods) { f.Traffic = Silent }, "", "no series"},
		"a part of the source was not asked":           {func(f *Facts, _ *Pods) { f.Incomplete = true }, "", "incomplete"},
		"a gap in the samples":                         {func(f *Facts, _ *Pods) { f.Coverage, f.LeastCoverage = 0.79, 0.79 }, "", "of the samples"},
		"a pod with few samples":                       {func(f *Facts, _ *Pods) { f.LeastCoverage = 0.1 }, "", "of the samples"},
		"a pod that is younger than what was measured": {func(_ *Facts, p *Pods) { p.Youngest = 119 * time.Second }, "", "younger than 2m0s"},
	} {
		f, p := seen(), old
		tc.change(&f, &p)
		for what, got := range map[string][2]string{"growth": {f.DoubtOfGrowth(p, now), tc.grow}, "shrinking": {f.DoubtOfShrinking(p, now), tc.shrink}} {
			if (got[0] == "") != (got[1] == "") || !strings.Contains(got[0], got[1]) {
				t.Errorf("%s: doubt of %s is %q, want %q", name, what, got[0], got[1])
			}
		}
	}
}

func TestAlike(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Facts)
		want   bool
	}{
		"only the time differs":  {func(f *Facts) { f.SampledAt = now }, true},
		"another rate":           {func(f *Facts) { f.RPS *= 1.03 }, false},
		"another peak":           {func(f *Facts) { f.PeakRPS *= 0.97 }, false},
		"another latency":        {func(f *Facts) { f.Latency *= 2 }, false},
		"no requests":            {func(f *Facts) { f.RPS = 0 }, false},
		"another number of pods": {func(f *Facts) { f.Pods-- }, false},
		"a gap":                  {func(f *Facts) { f.LeastCoverage = 0.5 }, false},
		"much less even":         {func(f *Facts) { f.Variation = 0.5 }, false},
		"incomplete":             {func(f *Facts) { f.Incomplete = true }, false},
		"unknown":                {func(f *Facts) { f.Traffic = Unknown }, false},
	} {
		a, b := seen(), seen()
		if tc.change(&b); Alike(a, b) != tc.want {
			t.Errorf("%s: alike is %t", name, !tc.want)
		}
	}
}

// A load that grows by half a percent from look to look is seen to grow.
func TestSlowGrowthIsSeen(t *testing.T) {
	f, woken := seen(), 0
	for range 200 {
		next := f
		next.RPS *= 1.005
		if !Alike(f, next) {
			woken++
		}
		f = next
	}
	if want := int(200 * math.Log(1.005) / math.Log(1.02)); woken < want-1 || woken > want+1 {
		t.Errorf("woken %d times, want about %d", woken, want)
	}
}

func TestCheck(t *testing.T) {
	with := func(label string, op Op, value string) Contract {
		return Contract{Histogram: "h", Matchers: []Matcher{{label, op, value}}}
	}
	for name, tc := range map[string]struct {
		c    Contract
		want string // part of the error
	}{
		"the default":                           {OTelHTTP(), ""},
		"that of Knative":                       {Knative(), ""},
		"any text is a value":                   {with("route", Equal, `"} or up{a="`), ""},
		"a regular expression is not ours":      {with("route", Match, `(`), ""},
		"an empty name":                         {Contract{}, "not the name of a histogram"},
		"a name that ends the selector":         {Contract{Histogram: `up{namespace="bank"} or h`}, "not the name of a histogram"},
		"a name behind a line feed":             {Contract{Histogram: "h\nor up"}, "not the name of a histogram"},
		"a name that is too long":               {Contract{Histogram: strings.Repeat("h", 129)}, "hhh…"},
		"a label that is an expression":         {with(`a="",b`, Equal, ""), "not the name of a label"},
		"a label without a name":                {with("", Equal, ""), "not the name of a label"},
		"the name of the series as a label":     {with("__name__", Match, ".*"), "of Prometheus itself"},
		"the namespace":                         {with(NamespaceLabel, Equal, "bank"), "matched by the manager"},
		"the class":                             {with(ClassLabel, NotEqual, ""), "matched by the manager"},
		"the function":                          {with(FunctionLabel, NotMatch, ""), "matched by the manager"},
		"the bucket":                            {with("le", Equal, "1"), "matched by the manager"},
		"an operator that is an expression":     {with("a", `="x"} or up{a=`, ""), "does not compare"},
		"no operator":                           {with("a", "", ""), "does not compare"},
		"a value that is no text":               {with("a", Equal, "\xff"), "or no text"},
		"a value that is too long":              {with("a", Equal, strings.Repeat("x", 257)), "longer than 256"},
		"too many matchers":                     {Contract{Histogram: "h", Matchers: make([]Matcher, 9)}, "more than 8"},
		"matchers of errors are checked, too":   {Contract{Histogram: "h", Errors: []Matcher{{NamespaceLabel, Equal, "bank"}}}, "matched by the manager"},
		"and so is how many of them there are":  {Contract{Histogram: "h", Errors: make([]Matcher, 9)}, "more than 8"},
		"one underscore at the front is common": {with("_a", Equal, ""), ""},
	} {
		err := tc.c.Check()
		if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || !errors.Is(err, ErrContract)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestSame(t *testing.T) {
	if !OTelHTTP().Same(OTelHTTP()) || OTelHTTP().Same(Knative()) {
		t.Error("a contract is not the same as itself, or the same as another")
	}
	c := OTelHTTP()
	c.Matchers = []Matcher{{"a", Equal, "b"}}
	if d := (Contract{Histogram: c.Histogram}); c.Same(OTelHTTP()) || d.Same(OTelHTTP()) {
		t.Error("matchers make no difference")
	}
}
