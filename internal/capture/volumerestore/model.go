package volumerestore

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	switch e := e.(type) {
	case CreateKeeper:
		w.Keeping = request.Keeping{Sight: presence.Here, UID: "keeper"}
	case CreateProbe:
		if w.Probe.Sight == NoProbe {
			w.Probe = Probe{Sight: ProbeRuns, UID: "job", ResourceVersion: "1"}
		}
	case DeleteProbe:
		if w.Probe.UID == e.UID {
			w.Probe = Probe{Sight: NoProbe}
		}
	case DeleteClaim:
		if w.Claim.UID == e.UID {
			w.Claim = Claim{Sight: presence.Gone}
		}
	}
	return w
}

// Settle is what the restorer does for a request that says what to restore, and what becomes
// of a Job.
func Settle(r *capturev1.VolumeRestoreRequest, w World) World {
	switch {
	case r.Status.Phase == Restoring && r.Status.Source != nil && w.Claim.Sight == presence.Gone:
		w.Claim = Claim{Sight: presence.Here, UID: "claim", ResourceVersion: "1", Reserved: w.Claim.Reserved}
	case r.Status.Phase == Restoring && w.Claim.empty():
		w.Claim.Volume, w.Claim.ResourceVersion = TheRestored, "2"
	case w.Probe.Sight == ProbeRuns:
		w.Probe.Sight = ProbePassed
	}
	return w
}
