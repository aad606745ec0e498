package diagram

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Reference prints a machine for its reference page: diagram, phases and holds,
// of the object and of its lanes.
func Reference[T fsm.Subject[T], W any](m *fsm.Machine[T, W]) string {
	text := reference(&m.Rules)
	if m.Lanes != nil {
		text += fmt.Sprintf("\nWhile in %s, each lane goes its own way:\n\n%s", join(m.Lanes.In), reference(&m.Lanes.Rules))
	}
	return text
}

func reference[I any](r *fsm.Rules[I]) string {
	text := Of(r.Chart()) + "\n" + r.Table()
	if holds := r.HoldTable(); holds != "" {
		text += "\n" + holds
	}
	return text
}
