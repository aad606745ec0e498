package rego

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

func defaultPack(tb testing.TB) policy.Pack {
	tb.Helper()
	objects, err := config.Objects("remediation", config.Namespace, config.Defaults)
	if err != nil {
		tb.Fatal(err)
	}
	texts := map[string]string{}
	for _, o := range objects {
		if o.GetKind() != "ConfigMap" || o.GetLabels()[remediationv1.PolicyLabel] != "true" || o.GetNamespace() != config.Namespace {
			continue
		}
		data, _, err := unstructured.NestedStringMap(o.Object, "data")
		if err != nil {
			tb.Fatal(err)
		}
		maps.Copy(texts, data)
	}
	return policy.NewPack(texts)
}

func TestTheDefaultPackPassesItsTests(t *testing.T) {
	results, err := Test(t.Context(), defaultPack(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Passed {
			t.Errorf("%s:%d: %s: %s", r.Module, r.Line, r.Name, r.Message)
		}
	}
	if len(results) < 15 {
		t.Errorf("only %d tests ran", len(results))
	}
}

// Every rule of the default pack matters: without it, a test of the pack fails.
func TestTheDefaultPackIsTested(t *testing.T) {
	pack := defaultPack(t)
	tried := 0
	for _, m := range pack.Deciding().Modules {
		rules := strings.Split(m.Text, "\n\n")
		for j, rule := range rules {
			if strings.Contains(rule, "package ") || comment(rule) {
				continue
			}
			without := strings.Join(append(append([]string{}, rules[:j]...), rules[j+1:]...), "\n\n")
			if caught(t, withTests(pack, m.Name, without)) {
				tried++
				continue
			}
			t.Errorf("%s: no test misses\n%s", m.Name, rule)
		}
	}
	if tried < 20 {
		t.Errorf("only %d rules were tried", tried)
	}
}

func comment(rule string) bool {
	return !slices.ContainsFunc(strings.Split(rule, "\n"), func(line string) bool { return !strings.HasPrefix(line, "#") })
}

// withTests is a text of a module and the tests of that module alone: the others would cost time only.
func withTests(pack policy.Pack, name, text string) policy.Pack {
	tests := strings.TrimSuffix(name, ".rego") + policy.TestSuffix
	for _, m := range pack.Modules {
		if m.Name == tests {
			return policy.NewPack(map[string]string{name: text, tests: m.Text})
		}
	}
	return policy.NewPack(map[string]string{name: text})
}

func caught(t *testing.T, pack policy.Pack) bool {
	t.Helper()
	results, err := Test(t.Context(), pack)
	for _, r := range results {
		if !r.Passed {
			return true
		}
	}
	return err != nil
}

func TestATestMayCallNoMoreThanAPack(t *testing.T) {
	_, err := Test(t.Context(), policy.NewPack(map[string]string{
		"a_test.rego": "package a_test\ntest_clock if time.now_ns() > 0",
	}))
	if err == nil || !strings.Contains(err.Error(), "undefined function time.now_ns") {
		t.Errorf("got %v", err)
	}
}

func TestTestsThatFailSayWhere(t *testing.T) {
	results, err := Test(t.Context(), policy.NewPack(map[string]string{
		"a.rego":      "package a\nx := 1",
		"a_test.rego": "package a_test\ntest_bad if data.a.x == 2\ntest_good if data.a.x == 1\ntest_error if data.a.x / 0 == 1\ntodo_test_later if false",
	}))
	if err != nil || len(results) != 4 {
		t.Fatalf("got %+v, %v", results, err)
	}
	for i, want := range []struct {
		passed, skipped bool
		message         string
	}{{false, false, "not true"}, {true, false, ""}, {false, false, "divide by zero"}, {false, true, ""}} {
		r := results[i]
		if r.Module != "a_test.rego" || r.Line != i+2 || r.Passed != want.passed || r.Skipped != want.skipped || !strings.Contains(r.Message, want.message) {
			t.Errorf("got %+v", r)
		}
	}
}

func BenchmarkDefaultPack(b *testing.B) {
	q := policy.Question{Pack: defaultPack(b), Conditions: []policy.Condition{{Name: "deployment_available"}}}
	q.Input.Namespace.Name = "shop"
	for b.Loop() {
		if r := Evaluate(b.Context(), q); !r.Answer.Allow {
			b.Fatal(r)
		}
	}
}

func BenchmarkDefaultPackCompiled(b *testing.B) {
	q := policy.Question{Conditions: []policy.Condition{{Name: "deployment_available"}}}
	q.Input.Namespace.Name = "shop"
	p, err := Compile(defaultPack(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := p.Evaluate(b.Context(), q); !r.Answer.Allow {
			b.Fatal(r)
		}
	}
}
