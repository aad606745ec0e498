package restorer

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case CreateClaim:
		if w.Claim.Sight == presence.Gone {
			w.Claim = Claim{Sight: presence.Here, UID: "claim", ResourceVersion: "1", Consumer: e.Volume == "", Reserved: w.Claim.Reserved}
		}
	case DeleteClaim:
		if w.Claim.UID == e.UID {
			w.Claim = Claim{Sight: presence.Gone}
		}
	case CreateIntent:
		if w.Intent.Sight == presence.Gone {
			w.Intent = Stored{Sight: presence.Here, UID: "intent", ResourceVersion: "1", Intent: &e.Intent}
		}
	case RemoveIntent:
		if w.Intent.UID == e.UID {
			w.Intent = Stored{Sight: presence.Gone, Draft: w.Intent.Intent}
		}
	case Tell:
		w.Claim.Told = e.Reason
	}
	return performOnVolumes(w, e)
}

func performOnVolumes(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case CreateVolume:
		w.Backend = true
	case DiscardVolume:
		w.Backend = false
	case CreatePV:
		w.PV = PV{Sight: ForUs, Name: e.Intent.Plan.Name}
	case MoveVolume:
		if w.PV.Sight == Held {
			w.PV.Sight, w.PV.Marked = ForUs, true
		}
	case FinishMove:
		w.PV.Marked = false
	}
	return w
}

// Settle is what others do: a pod is placed, and the cluster binds claim and volume.
func Settle(_ *Restore, w World) World {
	switch {
	case w.Claim.Consumer:
		w.Claim.Consumer = false
	case w.PV.Sight == ForUs && w.Claim.Sight == presence.Here:
		w.Claim.Bound = true
	}
	return w
}
