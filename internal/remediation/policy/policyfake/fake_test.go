package policyfake

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

func TestTheFakeAnswersAsItWasTold(t *testing.T) {
	f, q := Allowing(), policy.Question{Conditions: []policy.Condition{{Name: "a"}, {Name: "b"}}}
	ask := func(want policy.Reply) {
		t.Helper()
		r, err := f.Evaluate(t.Context(), q)
		if diff := cmp.Diff(want, r); err != nil || diff != "" {
			t.Error(diff, err)
		}
	}
	both := map[string]policy.Verdict{"a": {Holds: true}, "b": {Holds: true}}
	ask(policy.Reply{Answer: policy.Answer{Allow: true}, Conditions: both})
	f.Set(policy.Answer{Allow: true, RequireApproval: true})
	f.SetCondition("b", false)
	one := map[string]policy.Verdict{"a": {Holds: true}, "b": {}}
	ask(policy.Reply{Answer: policy.Answer{Allow: true, RequireApproval: true}, Conditions: one})
	f.SetAbout("web", policy.Answer{Reasons: []string{"not this one"}})
	ask(policy.Reply{Answer: policy.Answer{Allow: true, RequireApproval: true}, Conditions: one})
	q.Input.Request.Target.Name = "web"
	ask(policy.Reply{Answer: policy.Answer{Reasons: []string{"not this one"}}, Conditions: one})
	f.SetReply(func(q policy.Question) (policy.Reply, error) { return policy.Deny(q, "no"), nil })
	ask(policy.Deny(q, "no"))
	f.SetReply(func(policy.Question) (policy.Reply, error) { return policy.Reply{}, errors.New("no process") })
	if _, err := f.Evaluate(t.Context(), q); err == nil {
		t.Error("no error")
	}
	if n := f.Asked(); n != 6 || len(f.Last().Conditions) != 2 {
		t.Errorf("%d were asked, %+v the last", n, f.Last())
	}
}
