package upgrade

import "github.com/statecraft-dev/statecraft/internal/fsm"

// Ended says that an upgrade in this phase does nothing any more.
func Ended(phase fsm.Phase) bool {
	return phase == Completed || phase == Failed || phase == RolledBack
}
