// Package policyfake answers questions about policies in simulations and tests, by a function and
// without a process.
package policyfake

import (
	"context"
	"sync"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// Fake is an evaluator whose answers a test sets.
type Fake struct {
	mu     sync.Mutex
	answer policy.Answer
	about  map[string]policy.Answer // by the name of the target
	holds  map[string]bool
	reply  func(policy.Question) (policy.Reply, error)
	asked  int
	last   policy.Question
}

// Allowing is a fake that allows everything, and whose conditions hold.
func Allowing() *Fake { return &Fake{answer: policy.Answer{Allow: true}} }

// Set makes the fake answer so from now on.
func (f *Fake) Set(answer policy.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// SetAbout makes the fake answer so about the target of a name from now on.
func (f *Fake) SetAbout(target string, answer policy.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.about == nil {
		f.about = map[string]policy.Answer{}
	}
	f.about[target] = answer
}

// SetCondition makes a condition hold or not from now on.
func (f *Fake) SetCondition(name string, holds bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holds == nil {
		f.holds = map[string]bool{}
	}
	f.holds[name] = holds
}

// SetReply makes a function reply from now on, instead of what was set otherwise. Nil ends that.
func (f *Fake) SetReply(reply func(policy.Question) (policy.Reply, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reply = reply
}

// Asked is how many questions there were.
func (f *Fake) Asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// Last is the last question.
func (f *Fake) Last() policy.Question {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Evaluate answers as it was told to.
func (f *Fake) Evaluate(ctx context.Context, q policy.Question) (policy.Reply, error) {
	if err := ctx.Err(); err != nil {
		return policy.Reply{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	f.last = q
	if f.reply != nil {
		return f.reply(q)
	}
	r := policy.Reply{Answer: f.answer}
	if answer, is := f.about[q.Input.Request.Target.Name]; is {
		r.Answer = answer
	}
	for _, c := range q.Conditions {
		if r.Conditions == nil {
			r.Conditions = map[string]policy.Verdict{}
		}
		holds, set := f.holds[c.Name]
		r.Conditions[c.Name] = policy.Verdict{Holds: holds || !set}
	}
	return r.Clone(), nil
}
