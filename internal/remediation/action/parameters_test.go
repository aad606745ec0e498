package action

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

func given(pairs ...string) map[string]apiextensionsv1.JSON {
	out := map[string]apiextensionsv1.JSON{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = apiextensionsv1.JSON{Raw: []byte(pairs[i+1])}
	}
	return out
}

func raw(s string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(s)} }

var (
	text253  = remediationv1.Parameter{Name: "s", Type: remediationv1.TypeString}
	required = remediationv1.Parameter{Name: "s", Type: remediationv1.TypeString, Required: true}
	whole    = remediationv1.Parameter{Name: "n", Type: remediationv1.TypeInteger, Minimum: new(int64(0)), Maximum: new(int64(10))}
	wide     = remediationv1.Parameter{Name: "n", Type: remediationv1.TypeInteger}
	flat     = remediationv1.Parameter{Name: "o", Type: remediationv1.TypeObject}
	yes      = remediationv1.Parameter{Name: "b", Type: remediationv1.TypeBoolean}
)

func pattern(p string) remediationv1.Parameter {
	return remediationv1.Parameter{Name: "s", Type: remediationv1.TypeString, Pattern: p}
}

func TestCheck(t *testing.T) {
	for say, c := range map[string]struct {
		list  []remediationv1.Parameter
		given map[string]apiextensionsv1.JSON
		want  Params
		err   string
	}{
		"each type becomes its own": {list: []remediationv1.Parameter{text253, whole, flat, yes},
			given: given("s", `"x"`, "n", "7", "o", `{"k":"v"}`, "b", "true"),
			want:  Params{"s": "x", "n": int64(7), "o": map[string]string{"k": "v"}, "b": true}},
		"what is optional may be missing":      {list: []remediationv1.Parameter{text253}, want: Params{}},
		"what is required may not":             {list: []remediationv1.Parameter{required}, err: "Parameter s is required."},
		"a default stands in":                  {list: []remediationv1.Parameter{{Name: "n", Type: remediationv1.TypeInteger, Default: raw("3")}}, want: Params{"n": int64(3)}},
		"a default is checked like a value":    {list: []remediationv1.Parameter{{Name: "n", Type: remediationv1.TypeInteger, Default: raw(`"x"`)}}, err: "Parameter n must be an integer without fraction or exponent."},
		"an unknown name is refused":           {list: []remediationv1.Parameter{text253, whole}, given: given("x", "1"), err: `Parameter "x" is unknown; the action takes: s, n.`},
		"an action may take none":              {given: given("x", "1"), err: `The action takes no parameters: "x" is unknown.`},
		"a null is no value":                   {list: []remediationv1.Parameter{text253}, given: given("s", "null"), err: "Parameter s has no value."},
		"nothing is no value":                  {list: []remediationv1.Parameter{text253}, given: given("s", ""), err: "Parameter s has no value."},
		"an unknown type is the definition's":  {list: []remediationv1.Parameter{{Name: "s", Type: "number"}}, given: given("s", "1"), err: `The action's definition gives parameter s the unknown type "number".`},
		"a fraction is no integer":             {list: []remediationv1.Parameter{whole}, given: given("n", "1.0"), err: "Parameter n must be an integer without fraction or exponent."},
		"an exponent is no integer":            {list: []remediationv1.Parameter{whole}, given: given("n", "1e1"), err: "Parameter n must be an integer without fraction or exponent."},
		"a string is no integer":               {list: []remediationv1.Parameter{whole}, given: given("n", `"1"`), err: "Parameter n must be an integer without fraction or exponent."},
		"the least may be given":               {list: []remediationv1.Parameter{whole}, given: given("n", "0"), want: Params{"n": int64(0)}},
		"less than the least may not":          {list: []remediationv1.Parameter{whole}, given: given("n", "-1"), err: "Parameter n is -1, and 0 is the least."},
		"the most may be given":                {list: []remediationv1.Parameter{whole}, given: given("n", "10"), want: Params{"n": int64(10)}},
		"more than the most may not":           {list: []remediationv1.Parameter{whole}, given: given("n", "11"), err: "Parameter n is 11, and 10 is the most."},
		"the last integer of 64 bits is one":   {list: []remediationv1.Parameter{wide}, given: given("n", "-9223372036854775808"), want: Params{"n": int64(-9223372036854775808)}},
		"the next is not":                      {list: []remediationv1.Parameter{wide}, given: given("n", "-9223372036854775809"), err: "Parameter n is beyond the integers of 64 bits."},
		"1 is not true":                        {list: []remediationv1.Parameter{yes}, given: given("b", "1"), err: "Parameter b must be true or false."},
		"a number is no string":                {list: []remediationv1.Parameter{text253}, given: given("s", "1"), err: "Parameter s must be a string."},
		"a dash in front is refused":           {list: []remediationv1.Parameter{text253}, given: given("s", `"-f"`), err: "Parameter s begins with a dash, which only a pattern can allow."},
		"a dash within is not":                 {list: []remediationv1.Parameter{text253}, given: given("s", `"a-f"`), want: Params{"s": "a-f"}},
		"a pattern allows a dash in front":     {list: []remediationv1.Parameter{pattern(`-?[a-z]+`)}, given: given("s", `"-f"`), want: Params{"s": "-f"}},
		"a newline is refused":                 {list: []remediationv1.Parameter{text253}, given: given("s", `"a\nb"`), err: "Parameter s contains the character U+000A, which only a pattern can allow."},
		"a tab is refused":                     {list: []remediationv1.Parameter{text253}, given: given("s", `"a\tb"`), err: "Parameter s contains the character U+0009, which only a pattern can allow."},
		"text that is shown backwards too":     {list: []remediationv1.Parameter{text253}, given: given("s", `"a\u202eb"`), err: "Parameter s contains the character U+202E, which only a pattern can allow."},
		"a pattern allows a newline":           {list: []remediationv1.Parameter{pattern(`(?s).*`)}, given: given("s", `"a\nb"`), want: Params{"s": "a\nb"}},
		"no pattern allows NUL":                {list: []remediationv1.Parameter{pattern(`(?s).*`)}, given: given("s", `"a\u0000b"`), err: "Parameter s contains the character NUL, or is not UTF-8."},
		"characters of other scripts are text": {list: []remediationv1.Parameter{text253}, given: given("s", `"größer 漢字"`), want: Params{"s": "größer 漢字"}},
		"a pattern matches as a whole":         {list: []remediationv1.Parameter{pattern(`[a-z]+`)}, given: given("s", `"abc;"`), err: "Parameter s does not match the pattern [a-z]+ as a whole."},
		"no branch of a pattern matches a part": {list: []remediationv1.Parameter{pattern(`a|ab`)}, given: given("s", `"abc"`),
			err: "Parameter s does not match the pattern a|ab as a whole."},
		"each branch can match the whole": {list: []remediationv1.Parameter{pattern(`a|ab`)}, given: given("s", `"ab"`), want: Params{"s": "ab"}},
		"a pattern cannot break out": {list: []remediationv1.Parameter{pattern(`a)|(?:b`)}, given: given("s", `"b"`),
			err: "The action's definition gives parameter s a pattern that is not a regular expression of RE2."},
		"a pattern that quotes ends with itself": {list: []remediationv1.Parameter{pattern(`\Qa.b`)}, given: given("s", `"a.b"`), want: Params{"s": "a.b"}},
		"a pattern is bounded": {list: []remediationv1.Parameter{pattern(strings.Repeat(`(\pL|\pN){300}`, 20))}, given: given("s", `"a"`),
			err: "The action's definition gives parameter s a pattern that takes too long to match."},
		"an enum has the only values":       {list: []remediationv1.Parameter{{Name: "s", Type: remediationv1.TypeString, Enum: []string{"a", "b"}}}, given: given("s", `"c"`), err: `Parameter s is none of its allowed values: ["a" "b"].`},
		"253 characters are the most":       {list: []remediationv1.Parameter{text253}, given: given("s", `"`+strings.Repeat("ä", 254)+`"`), err: "Parameter s has 254 characters, and 253 are the most."},
		"characters are counted, not bytes": {list: []remediationv1.Parameter{text253}, given: given("s", `"`+strings.Repeat("ä", 253)+`"`), want: Params{"s": strings.Repeat("ä", 253)}},
		"a definition gives another length": {list: []remediationv1.Parameter{{Name: "s", Type: remediationv1.TypeString, MaxLength: new(int32(2))}}, given: given("s", `"abc"`), err: "Parameter s has 3 characters, and 2 are the most."},
		"an object is flat":                 {list: []remediationv1.Parameter{flat}, given: given("o", `{"k":{"l":"v"}}`), err: "Parameter o must be an object whose values are strings."},
		"a list is no object":               {list: []remediationv1.Parameter{flat}, given: given("o", `["k"]`), err: "Parameter o must be an object whose values are strings."},
		"a null in an object is no value":   {list: []remediationv1.Parameter{flat}, given: given("o", `{"k":null}`), err: "Parameter o has a key without a value."},
		"a value of an object is text":      {list: []remediationv1.Parameter{flat}, given: given("o", `{"k":"-v"}`), err: "Key k of parameter o begins with a dash, which only a pattern can allow."},
		"a key of an object is text":        {list: []remediationv1.Parameter{flat}, given: given("o", `{"k\n":"v"}`), err: "A key of parameter o contains the character U+000A, which only a pattern can allow."},
		"an object has a bounded number of keys": {list: []remediationv1.Parameter{flat}, given: given("o", manyKeys(65)),
			err: "Parameter o has 65 keys, and 64 are the most."},
		"all parameters together are bounded": {list: []remediationv1.Parameter{{Name: "o", Type: remediationv1.TypeObject, MaxLength: new(int32(4096))}},
			given: given("o", `{"a":"`+strings.Repeat("x", 4096)+`","b":"`+strings.Repeat("x", 4096)+`","c":"`+strings.Repeat("x", 4096)+`","d":"`+strings.Repeat("x", 4096)+`"}`),
			err:   "The parameters take more than 16384 bytes, which is the most for all of them."},
		"what is written is bounded before it is read": {list: []remediationv1.Parameter{flat}, given: given("o", `{"a":"`+strings.Repeat("x", 1<<20)+`"}`),
			err: "Parameter o takes more than 98304 bytes."},
	} {
		t.Run(say, func(t *testing.T) {
			got, err := Check(c.list, c.given)
			if say := sayOf(err); say != c.err {
				t.Fatalf("err = %q, want %q", say, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sayOf is the sentence of a refusal; other errors are marked.
func sayOf(err error) string {
	r := (*Refusal)(nil)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &r):
		return r.Say
	}
	return "no refusal: " + err.Error()
}

func manyKeys(n int) string {
	out := map[string]string{}
	for i := range n {
		out[strings.Repeat("k", i+1)] = "v"
	}
	text, _ := json.Marshal(out)
	return string(text)
}

// Whatever is given, Check does not panic, and what it accepts it accepts again as it wrote it.
func FuzzCheck(f *testing.F) {
	f.Add("string", `"x"`, `[a-z]+`, "253")
	f.Add("string", `"-x"`, ``, "3")
	f.Add("integer", `-0`, ``, "1")
	f.Add("boolean", `true`, ``, "1")
	f.Add("object", `{"a":"<b>","\u2028":"c"}`, `(?s).*`, "4096")
	f.Add("object", `{"a":"\ud800"}`, `((a{30}){30})*`, "10")
	f.Fuzz(func(t *testing.T, kind, value, pattern, length string) {
		var most int32
		if json.Unmarshal([]byte(length), &most) != nil || most < 1 || most > 4096 {
			most = 253
		}
		list := []remediationv1.Parameter{{Name: "p", Type: remediationv1.ParameterType(kind), Pattern: pattern, MaxLength: &most}}
		p, err := Check(list, given("p", value))
		if err != nil {
			if say := sayOf(err); !strings.HasSuffix(say, ".") && !strings.HasSuffix(say, "]") {
				t.Errorf("no sentence: %s", say)
			}
			return
		}
		again, err := Check(list, p.JSON())
		if err != nil {
			t.Fatalf("refused again: %v", err)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Error(diff)
		}
		if s, is := p["p"].(string); is && pattern == "" && (strings.HasPrefix(s, "-") || strings.ContainsAny(s, "\x00\n\r\x1b")) {
			t.Errorf("%q without a pattern", s)
		}
	})
}
