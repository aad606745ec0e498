package observe

import (
	"context"
	"errors"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
)

func packOf(text string) policy.Pack { return policy.NewPack(map[string]string{"a.rego": text}) }

// compiling is an evaluator that answers by the text of the pack.
func compiling(invalid string, err error) *policyfake.Fake {
	f := policyfake.Allowing()
	f.SetReply(func(q policy.Question) (policy.Reply, error) {
		if q.Pack.Modules[0].Text == invalid {
			return policy.Reply{InvalidPack: true, Problem: "The policy pack does not compile: a.rego:1."}, err
		}
		return policy.Reply{Answer: policy.Answer{Allow: true, Reasons: []string{q.Pack.Modules[0].Text}}}, err
	})
	return f
}

// TestTheLastPackThatCompiledAnswers while the present one does not, and says so by its digest.
func TestTheLastPackThatCompiledAnswers(t *testing.T) {
	l := &LastGood{Next: compiling("broken", nil)}
	ask := func(text string) policy.Reply {
		t.Helper()
		r, err := l.Evaluate(t.Context(), policy.Question{Pack: packOf(text)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := ask("broken"); r.Answer.Allow || !r.InvalidPack {
		t.Errorf("without an earlier pack the answer is %+v", r)
	}
	if r := ask("one"); !r.Answer.Allow || r.Pack != "" {
		t.Errorf("the present pack answers %+v", r)
	}
	if r := ask("broken"); !r.Answer.Allow || r.InvalidPack || r.Pack != packOf("one").Digest() {
		t.Errorf("the last pack that compiled answers %+v", r)
	}
	ask("two")
	if r := ask("broken"); r.Pack != packOf("two").Digest() {
		t.Errorf("an older pack answers: %+v", r)
	}
}

// TestALookKeepsThePack before anything is asked, and tells whether it compiles.
func TestALookKeepsThePack(t *testing.T) {
	text, invalid := "one", false
	l := &LastGood{
		Next: compiling("broken", nil), Invalid: func(is bool) { invalid = is },
		Pack: func(context.Context) (policy.Pack, error) { return packOf(text), nil },
	}
	if err := l.Look(t.Context()); err != nil || invalid {
		t.Errorf("%t, %v", invalid, err)
	}
	text = "broken"
	if err := l.Look(t.Context()); err == nil || !invalid {
		t.Errorf("a pack that does not compile is not told: %v", err)
	}
	if r, err := l.Evaluate(t.Context(), policy.Question{Pack: packOf("broken")}); err != nil || r.Pack != packOf("one").Digest() {
		t.Errorf("%+v, %v", r, err)
	}
	lost := &LastGood{Next: compiling("", errors.New("no process")), Pack: l.Pack}
	if err := lost.Look(t.Context()); err == nil {
		t.Error("an evaluator that does not work is not told")
	}
}
