package manifestrestore

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Perform is what an effect should do to the World.
func Perform(w World, effect fsm.Effect) World {
	switch e := effect.(type) {
	case CreateKeeper:
		if w.Keeping.Sight == presence.Gone {
			w.Keeping = request.Keeping{Sight: presence.Here, UID: "keeper"}
		}
	case Begin:
		if w.Work.Stage != e.Stage || w.Work.State != Running {
			w.Work = Work{Stage: e.Stage, State: Running}
		}
	}
	return w
}

// Settle is what others do meanwhile: a job comes to its end.
func Settle(r *capturev1.ManifestRestoreRequest, w World) World {
	if w.Work.State != Running {
		return w
	}
	w.Restored = w.Restored || w.Work.Stage == Apply
	what := capturev1.ResultPending
	if w.Restored || r.Spec.DryRun {
		what = capturev1.ResultCreated
	}
	w.Work.State, w.Work.Report = Ended, Tally([]capturev1.ObjectResult{
		{Resource: "configmaps", Name: "settings", Result: what},
		{Group: "apps", Resource: "deployments", Name: "web", Result: what},
	})
	return w
}
