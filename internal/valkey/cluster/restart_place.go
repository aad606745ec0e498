package cluster

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// RestartPlace is one of the places that clusters hold while the operator restarts them.
type RestartPlace struct {
	Number int `json:"number"`
	reserve.Fact
	// Failed says that the restart of the cluster that holds it has failed.
	Failed bool `json:"failed,omitempty"`
}

// PlaceRef names a place where it is reserved.
func PlaceRef(number int) reserve.Ref {
	return reserve.Ref{Kind: "RestartPlace." + kind.Group, Name: fmt.Sprintf("restart-%d", number), UID: types.UID(fmt.Sprintf("valkey-restart-%d", number))}
}

// IsPlace says that a reservation is that of a place.
func IsPlace(target reserve.Ref) bool { return target.Kind == PlaceRef(0).Kind }

// releasePlaces gives back what the cluster needs no more. After a failure it keeps its place, until a person or
// another version of the spec or of the operator has put that right.
func releasePlaces(in input) (effects []fsm.Effect) {
	r, pending := pendingRestart(in)
	if ownUnderWay(in.World) || pending && (r.place > 0 || r.reason == ReasonRestartFailed) {
		return nil
	}
	for _, p := range in.World.Places {
		if p.State == reserve.Ours {
			effects = append(effects, reserve.Release{Target: PlaceRef(p.Number)})
		}
	}
	return effects
}

// giveBackPlaces gives back what a cluster needs no more where nothing else is looked after: all others wait for it.
func giveBackPlaces(in input) (fsm.Decision, bool) {
	phase := in.Obj.Status.Phase
	effects := releasePlaces(in)
	if len(effects) == 0 || phase == Running && !in.Obj.Spec.Paused || !slices.Contains(standing, phase) {
		return fsm.Decision{}, false
	}
	return fsm.Do(ReasonRestartHeld, effects...).Because("The manager gives back the place of a restart that does not go on."), true
}
