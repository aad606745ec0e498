package class

import (
	"errors"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Refusal is why the children of one function could not be applied.
type Refusal struct {
	Function string
	Reason   fsm.Reason
	Message  string
}

// Refusals is the error of a batch of which some functions were refused.
type Refusals []Refusal

func (r Refusals) Error() string {
	words := make([]string, len(r))
	for i, one := range r {
		words[i] = one.Function + ": " + one.Message
	}
	return strings.Join(words, "; ")
}

// tried is what a pass came to: whether it applied anything, and which functions were refused.
type tried struct {
	acted   bool
	refused map[string]Refusal
}

func triedIn(outcomes []fsm.Outcome) tried {
	t := tried{refused: map[string]Refusal{}}
	for _, o := range outcomes {
		if _, is := o.Effect.(Apply); !is {
			continue
		}
		t.acted = true
		var all Refusals
		if errors.As(o.Err, &all) {
			for _, r := range all {
				t.refused[r.Function] = r
			}
		}
	}
	return t
}
