package fsmtest

import (
	"fmt"
	"regexp"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// sentence begins with a capital letter, a number, a quote or a name, which no plain word is, and
// ends with a period, or where a long one was cut off.
var sentence = regexp.MustCompile(`(?s)^([^a-z\s]|[a-z]+[^a-z\s,;:]).*[.…]$`)

// speaks says that whatever a status gets to say about a step is a sentence for the person who is paged.
// A move may do without: what is awaited after it says more.
func (x explorer[T, W]) speaks(in fsm.Input[T, W], s fsm.Step[T]) error {
	d, p := s.Decision, s.Obj.GetProgress()
	if x.Machine.Phases[p.Phase].Decide != nil && !sentence.MatchString(d.Message) {
		return fmt.Errorf("%s waits or acts without a sentence that says why: %s %q", p.Phase, d.Reason, d.Message)
	}
	for _, h := range s.Hops {
		if h.Message != "" && !sentence.MatchString(h.Message) {
			return fmt.Errorf("%s –%s→ %s is told by no sentence: %q", h.From, h.Event, h.To, h.Message)
		}
	}
	for _, c := range x.reduce(in, s, nil).Obj.GetProgress().Conditions {
		if c.Message != "" && !sentence.MatchString(c.Message) {
			return fmt.Errorf("%s: condition %s is told by no sentence: %q", p.Phase, c.Type, c.Message)
		}
	}
	return nil
}
