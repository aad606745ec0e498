package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// As many queries are made for 200 classes as for one, and one set more for each contract of a user's own in each namespace.
func TestNumberOfQueries(t *testing.T) {
	const perContract, ofPods = 7, 4
	custom := load.Contract{Histogram: "queries"}
	many := func(classes int, contract load.Contract, percentiles ...int32) (list []Subject) {
		for i := range classes {
			for f := range 3 {
				k := load.Key{Namespace: fmt.Sprintf("tenant-%d", i%20), Class: fmt.Sprintf("class-%d", i), Function: fmt.Sprint(f)}
				list = append(list, Subject{k, contract, percentiles[f%len(percentiles)]})
			}
		}
		return list
	}
	for name, tc := range map[string]struct {
		subjects []Subject
		want     int
	}{
		"nothing to ask":          {nil, 0},
		"nothing that can be":     {[]Subject{{key, load.Contract{}, 95}}, 0},
		"one class":               {many(1, load.OTelHTTP(), 95), perContract + ofPods},
		"200 classes":             {many(200, load.OTelHTTP(), 95), perContract + ofPods},
		"with another percentile": {many(200, load.OTelHTTP(), 95, 99), perContract + 1 + ofPods},
		"and another contract":    {slices.Concat(many(200, load.OTelHTTP(), 95), []Subject{{key, load.Knative(), 95}}), 2*perContract + ofPods},
		"a user's own":            {slices.Concat(many(200, load.OTelHTTP(), 95), []Subject{{key, custom, 95}}), 2*perContract - 1 + ofPods},
		"one of three users":      {many(3, custom, 95), 3*(perContract-1) + ofPods},
	} {
		s := newServer(t, nil)
		if answers, err := newClient(t, Config{URL: s.URL}).Look(t.Context(), tc.subjects); err != nil || len(answers) != len(tc.subjects) {
			t.Errorf("%s: %v, %d answers to %d", name, err, len(answers), len(tc.subjects))
		}
		if got := len(s.asked()); got != tc.want {
			t.Errorf("%s: %d queries, want %d", name, got, tc.want)
		}
	}
}

// A set of a user's own contract is about one namespace, and the answer is for who asked.
func TestAUsersOwnContractIsOfOneNamespace(t *testing.T) {
	s := newServer(t, usual)
	custom := load.Contract{Histogram: "http_server_request_duration_seconds"}
	other := load.Key{Namespace: "bank", Class: "cart", Function: "add"}
	answers, err := newClient(t, Config{URL: s.URL}).Look(t.Context(), []Subject{{other, custom, 95}})
	if err != nil || answers[other].Facts.Traffic != load.Unknown {
		t.Errorf("bank is told of shop: %v, %+v", err, answers)
	}
	for _, q := range s.asked() {
		if strings.Count(q, "{") != strings.Count(q, `{namespace=~"bank",`) {
			t.Errorf("a selector of another namespace: %s", q)
		}
	}
}

// selectorEnd reads a selector as Prometheus does, past quoted values, up to its end.
func selectorEnd(t *rapid.T, text string) (matchers []string, rest string) {
	begin, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && (text[i] == ',' || text[i] == '}'):
			matchers = append(matchers, text[begin:i])
			begin = i + 1
			if text[i] == '}' {
				return matchers, text[i+1:]
			}
		}
	}
	t.Fatalf("the selector does not end: %s", text)
	return nil, ""
}

// Whatever a user writes for a value, each selector has the matchers that it should, ours among them.
func TestNoValueLeavesItsQuotes(t *testing.T) {
	p := pace{window: 120e9, interval: 15e9}
	pieces := rapid.SampledFrom([]string{`"`, `\`, `}`, `{`, `,`, `=`, `~`, "\n", "`", `'`, `or up{namespace="bank"}`, `\x22`, `\u0022`, "#", "a", "é", "\u2028"})
	rapid.Check(t, func(t *rapid.T) {
		value := func(name string) string { return strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, name), "") }
		op := rapid.SampledFrom([]load.Op{load.Equal, load.NotEqual, load.Match, load.NotMatch})
		c := load.Contract{
			Histogram: "h", Matchers: []load.Matcher{{Label: "a", Op: op.Draw(t, "op"), Value: value("value")}},
			Errors: []load.Matcher{{Label: "b", Op: op.Draw(t, "of errors"), Value: value("error")}},
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		for f, q := range p.ofContract(c, []string{"shop"}, 95) {
			for rest := q; ; {
				_, after, is := strings.Cut(rest, "{")
				if !is {
					break
				}
				var found []string
				found, rest = selectorEnd(t, after)
				want := 4
				if f == failures {
					want = 5
				}
				if len(found) != want || found[0] != `namespace=~"shop"` || found[1] != load.ClassLabel+`!=""` || found[2] != load.FunctionLabel+`!=""` {
					t.Fatalf("%s has the matchers %q: %s", f, found, q)
				}
			}
		}
	})
}

// The name of a namespace is a name, whatever it looks like.
func TestNamespacesAreLiteral(t *testing.T) {
	if got := ofFunctions([]string{"a.b", "c"})[0]; got != `namespace=~"a\\.b|c"` {
		t.Error(got)
	}
}
