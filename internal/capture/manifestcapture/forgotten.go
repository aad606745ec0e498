package manifestcapture

import (
	"slices"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// forgotten says that the status was lost after the checkpoint was written: the capture may have been Ready for long, and
// somebody may rely on it.
func forgotten(r *capturev1.ManifestCaptureRequest) bool {
	return slices.ContainsFunc(r.Status.History, func(t meta.Transition) bool { return t.Event == fsm.Lost && t.To == Verifying })
}

// review is the work that reads the checkpoint back. A key that is missing says nothing about a checkpoint that was
// forgotten: keys come back, so it is tried again for as long as there is time.
func review(in input) Work {
	work := in.World.on(TaskVerify)
	if v := work.Verdict; v != nil && v.Reason == capturev1.ReasonKeyMissing && forgotten(in.Obj) {
		return Work{}
	}
	return work
}

// stays says that the checkpoint of a failed request is not removed: it was forgotten, and may have been Ready for long. If it
// could not be read back, or only in part, it may still be all there is. It goes with its request, and not before.
func stays(r *capturev1.ManifestCaptureRequest) bool {
	return r.Status.Failure != nil && forgotten(r)
}
