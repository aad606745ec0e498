package rego

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

const (
	decides = "package statecraft.remediation\n"
	holds   = "package statecraft.conditions\n"
)

func ask(t *testing.T, q policy.Question, texts ...string) policy.Reply {
	t.Helper()
	pack := map[string]string{}
	for i, text := range texts {
		pack[fmt.Sprintf("m%d.rego", i)] = text
	}
	q.Pack = policy.NewPack(pack)
	return Evaluate(t.Context(), q)
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		pack string
		want policy.Answer
	}{
		"allow":             {"allow := true", policy.Answer{Allow: true}},
		"do not allow":      {"allow := false", policy.Answer{}},
		"undefined":         {"allow if input.request.risk == \"Low\"", policy.Answer{}},
		"no rule":           {"x := 1", policy.Answer{}},
		"demands":           {"allow := true\nrequire_approval := true\nrequire_dry_run := true", policy.Answer{Allow: true, RequireApproval: true, RequireDryRun: true}},
		"reasons":           {"allow := true\nreasons := {\"b\", \"a\"}", policy.Answer{Allow: true, Reasons: []string{"a", "b"}}},
		"reasons as a list": {"allow := true\nreasons := [\"b\", \"a\"]", policy.Answer{Allow: true, Reasons: []string{"b", "a"}}},
		"the input":         {"allow if {\n input.request.risk == \"High\"\n count(input.request.target.managers) == 0\n not input.pods\n}", policy.Answer{Allow: true}},
		"integers stay":     {"allow if input.request.parameters.n == 9007199254740993", policy.Answer{Allow: true}},
		"print is ignored":  {"allow if {\n print(\"x\")\n true\n}", policy.Answer{Allow: true}},
		"time zones":        {"allow if time.clock([0, \"Europe/Berlin\"])[0] == 1", policy.Answer{Allow: true}},
		"template strings":  {"allow if $\"{1 + 1}\" == \"2\"", policy.Answer{Allow: true}},
	} {
		risk := "High"
		if name == "undefined" {
			risk = "Medium"
		}
		q := policy.Question{Input: policy.Input{Request: policy.Request{
			Risk: risk, Parameters: map[string]any{"n": int64(9007199254740993)},
		}}}
		if diff := cmp.Diff(policy.Reply{Answer: c.want}, ask(t, q, decides+c.pack)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAPackWithoutAnAnswerDenies(t *testing.T) {
	for name, c := range map[string]struct{ pack, problem string }{
		"a string":           {`allow := "true"`, "data.statecraft.remediation.allow must be true or false, and is a string"},
		"a number":           {`allow := 1`, "and is a number"},
		"null":               {`allow := null`, "and is null"},
		"an object":          {`allow := {}`, "and is an object"},
		"a set":              {`allow contains true`, "and is a set or an array"},
		"a function":         {`allow(x) if x`, "allow"},
		"several results":    {"allow := input.request.action == \"\"\nallow := false if input.now == \"\"", "produced conflicting values"},
		"approval as a text": {"allow := true\nrequire_approval := \"yes\"", "require_approval must be true or false"},
		"an error":           {`allow if 1 / 0 == 1`, "divide by zero"},
		"a builtin's error":  {`allow if not to_number("x")`, "to_number"},
		"reasons as text":    {"allow := true\nreasons := \"because\"", "reasons must be a set of strings"},
		"reasons of numbers": {"allow := true\nreasons := {1}", "reasons must hold strings"},
	} {
		r := ask(t, policy.Question{}, decides+c.pack)
		if diff := cmp.Diff(policy.Answer{}, r.Answer); diff != "" || !strings.Contains(r.Problem, c.problem) {
			t.Errorf("%s: got %+v", name, r)
		}
		if again := ask(t, policy.Question{}, decides+c.pack); again.Problem != r.Problem {
			t.Errorf("%s: %q the first time, %q the second", name, r.Problem, again.Problem)
		}
	}
}

func TestReasonsAreBounded(t *testing.T) {
	r := ask(t, policy.Question{}, decides+`
		allow := true
		reasons contains sprintf("%04d %s", [n, concat("", [x | some i in numbers.range(1, 600); x := sprintf("%d", [i])])]) if some n in numbers.range(1, 40)`)
	if len(r.Answer.Reasons) != policy.MaxReasons {
		t.Fatalf("%d reasons; %s", len(r.Answer.Reasons), r.Problem)
	}
	for _, reason := range r.Answer.Reasons {
		if n := len([]rune(reason)); n != policy.MaxLength {
			t.Errorf("a reason has %d runes", n)
		}
	}
}

func TestAPackThatDoesNotCompileDenies(t *testing.T) {
	for name, c := range map[string]struct {
		packs   []string
		problem string
	}{
		"no Rego":                 {[]string{"allow"}, "rego_parse_error"},
		"an empty module":         {[]string{""}, "empty module"},
		"the first version":       {[]string{decides + "allow { true }"}, "`if` keyword is required"},
		"an unsafe variable":      {[]string{decides + "allow if x > 1"}, "var x is unsafe"},
		"recursion":               {[]string{decides + "allow if allow"}, "is recursive"},
		"two defaults":            {[]string{decides + "default allow := true", decides + "default allow := false"}, "multiple default rules"},
		"a draft of the language": {[]string{decides + "import future.keywords.or\nallow := true"}, "future"},
		"several errors":          {[]string{decides + "allow if x > 1\nallow if y > 1"}, "(and 1 more)"},
	} {
		r := ask(t, policy.Question{Conditions: []policy.Condition{{Name: "a"}}}, c.packs...)
		if r.Answer.Allow || !r.InvalidPack || !strings.Contains(r.Problem, c.problem) || strings.Contains(r.Problem, "\n") {
			t.Errorf("%s: got %+v", name, r)
		}
		if v := r.Conditions["a"]; v.Holds || v.Message != r.Problem {
			t.Errorf("%s: the condition is %+v", name, v)
		}
	}
	twice := policy.Pack{Modules: []policy.Module{{Name: "a", Text: decides}, {Name: "a", Text: decides + "allow := true"}}}
	if r := Evaluate(t.Context(), policy.Question{Pack: twice}); !r.InvalidPack {
		t.Errorf("two modules of one name: got %+v", r)
	}
}

func TestForbiddenFunctionsDoNotCompile(t *testing.T) {
	for name, call := range map[string]string{
		"http.send":                      `http.send({"method": "GET", "url": "http://127.0.0.1"})`,
		"net.lookup_ip_addr":             `net.lookup_ip_addr("localhost")`,
		"net.cidr_expand":                `net.cidr_expand("10.0.0.0/8")`,
		"opa.runtime":                    `opa.runtime()`,
		"time.now_ns":                    `time.now_ns()`,
		"rand.intn":                      `rand.intn("x", 5)`,
		"uuid.rfc4122":                   `uuid.rfc4122("x")`,
		"trace":                          `trace("x")`,
		"bits.lsh":                       `bits.lsh(1, 1000000000000)`,
		"strings.render_template":        `strings.render_template("{{range .}}{{end}}", {})`,
		"graph.reachable_paths":          `graph.reachable_paths({}, ["a"])`,
		"regex.globs_match":              `regex.globs_match("a.*", "b.*")`,
		"io.jwt.decode_verify":           `io.jwt.decode_verify("x", {})`,
		"io.jwt.encode_sign":             `io.jwt.encode_sign({}, {}, {})`,
		"crypto.x509.parse_keypair":      `crypto.x509.parse_keypair("x", "y")`,
		"json.match_schema":              `json.match_schema({}, {"$ref": "file:///etc/passwd"})`,
		"json.verify_schema":             `json.verify_schema({})`,
		"yaml.unmarshal":                 `yaml.unmarshal("a: b")`,
		"rego.parse_module":              `rego.parse_module("x", "package x")`,
		"providers.aws.sign_req":         `providers.aws.sign_req({}, {}, 1)`,
		"graphql.parse_query":            `graphql.parse_query("{a}")`,
		"crypto.parse_private_keys":      `crypto.parse_private_keys("x")`,
		"crypto.x509.parse_certificates": `crypto.x509.parse_certificates("x")`,
	} {
		r := ask(t, policy.Question{}, decides+"allow if "+call)
		if r.Answer.Allow || !r.InvalidPack || !strings.Contains(r.Problem, "undefined function "+name) {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// Functions that Open Policy Agent itself calls nondeterministic, or that reach out of the process, are not listed.
func TestAllowedFunctionsExistAndDependOnTheirArguments(t *testing.T) {
	var names []string
	for _, b := range capabilities().Builtins {
		names = append(names, b.Name)
		if b.Nondeterministic {
			t.Errorf("%s is not deterministic", b.Name)
		}
	}
	for _, name := range builtins {
		if !slices.Contains(names, name) {
			t.Errorf("%s does not exist", name)
		}
	}
	if can := capabilities(); can.AllowNet == nil || len(can.AllowNet) > 0 {
		t.Errorf("it may reach %v", can.AllowNet)
	}
}

func TestConditions(t *testing.T) {
	pack := holds + `
		yes := true
		no := false
		never if input.now == "never"
		asks if input.condition.parameters.n > 2
		named if input.condition.name == "named"
		counts if count(input.condition.parameters) == 0
		text := "x"
		errs if 1 / 0 == 1
		f(x) if x
		contains_it contains "x"`
	asked := func(name string) policy.Condition { return policy.Condition{Name: name} }
	for name, c := range map[string]struct {
		asked   policy.Condition
		holds   bool
		message string
	}{
		"true":               {asked("yes"), true, ""},
		"false":              {asked("no"), false, ""},
		"undefined":          {asked("never"), false, ""},
		"parameters":         {policy.Condition{Name: "asks", Parameters: map[string]any{"n": 3}}, true, ""},
		"other parameters":   {policy.Condition{Name: "asks", Parameters: map[string]any{"n": 2}}, false, ""},
		"without parameters": {asked("asks"), false, ""},
		"its name":           {asked("named"), true, ""},
		"empty parameters":   {asked("counts"), true, ""},
		"unknown":            {asked("other"), false, "The policy pack has no condition other."},
		"not a boolean":      {asked("text"), false, "must be true or false, and is a string"},
		"a set":              {asked("contains_it"), false, "and is a set or an array"},
		"a failing one":      {asked("errs"), false, "divide by zero"},
		"a function":         {asked("f"), false, "f"},
		"no identifier":      {asked(`yes"] == x; http.send(`), false, "has no condition"},
		"a keyword":          {asked("not"), false, "has no condition"},
		"no name":            {asked(""), false, "has no condition"},
	} {
		r := ask(t, policy.Question{Conditions: []policy.Condition{c.asked}}, pack)
		v := r.Conditions[c.asked.Name]
		if r.Problem != "" || v.Holds != c.holds || (v.Message == "") != (c.message == "") || !strings.Contains(v.Message, c.message) {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// A condition can be asked although the pack cannot decide about the execution, and the other way round.
func TestADecisionAndConditionsDoNotDependOnEachOther(t *testing.T) {
	q := policy.Question{Conditions: []policy.Condition{{Name: "yes"}}}
	if r := ask(t, q, decides+"allow := 1", holds+"yes := true"); r.Problem == "" || !r.Conditions["yes"].Holds {
		t.Errorf("got %+v", r)
	}
	if r := ask(t, q, decides+"allow := true", holds+"yes := 1"); !r.Answer.Allow || r.Conditions["yes"].Holds {
		t.Errorf("got %+v", r)
	}
	if r := ask(t, q); r.Problem != "" || r.Answer.Allow || r.Conditions["yes"].Holds {
		t.Errorf("an empty pack: got %+v", r)
	}
}
