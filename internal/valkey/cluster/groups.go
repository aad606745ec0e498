package cluster

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// formed are the phases in which a formed cluster waits for changes.
var formed = []fsm.Phase{Running, Degraded}

// groups are the flows of the diagram. "Existing" is what deletion and the loss of all data end.
var groups = []fsm.Group{
	{Name: "Existing", Phases: slices.Concat(making, []fsm.Phase{VerifyingClusterHealth}, formed, scaling)},
	{Name: "Forming", Phases: making},
	{Name: "Formed", Phases: formed},
	{Name: "Scaling", Phases: scaling},
	{Name: "Scaling up", Phases: growing},
	{Name: "Scaling down", Phases: shrinking},
}
