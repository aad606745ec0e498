package volumerestore

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// ProbeName is the name of the Job of a rehearsal.
func ProbeName(uid types.UID) string { return "rehearsal-" + string(uid) }

// sourced says that it is decided what is restored. A request that lost its status may find
// that it had succeeded, or that it is being given up with a claim of its own.
func sourced(phase fsm.Phase, w World) bool {
	return slices.Contains([]fsm.Phase{Restoring, Rehearsing, Succeeded}, phase) || phase == CleaningUp && w.Claim.Sight == presence.Here
}

// Checks says that a request in this phase was not begun: what is restored is not decided yet, whatever its status says.
func Checks(phase fsm.Phase) bool { return phase == "" || phase == Pending || phase == Preparing }

// isUnsourced says that the manager has not written yet what is restored.
func isUnsourced(r *capturev1.VolumeRestoreRequest) bool {
	return r.Status.Source == nil || Checks(r.Status.Phase)
}

// report notes what is restored once it is decided, what was made, and why a request is
// given up while that must not be forgotten.
func report(out *capturev1.VolumeRestoreRequest, in input, _ fsm.Pass) {
	s, w := &out.Status, in.World
	if isUnsourced(in.Obj) && w.Source.Sight == Ready && sourced(s.Phase, w) {
		s.Source = w.Source.Resolved.DeepCopy()
	}
	if s.PVCRef == nil && w.Claim.bound() && (s.Phase == Rehearsing || s.Phase == Succeeded) {
		s.PVCRef = &capturev1.ArtifactRef{
			APIVersion: corev1.SchemeGroupVersion.String(), Kind: "PersistentVolumeClaim",
			Name: in.Obj.Spec.VolumeClaimTemplate.Name, UID: w.Claim.UID,
		}
	}
	if s.Phase == CleaningUp && s.Failure == nil {
		s.Failure = request.FailureOf(&s.Progress, CleaningUp)
	}
	if s.Phase == Succeeded || s.Phase == Failed {
		s.Failure = nil // the condition has it
		s.CompletionTimestamp = &metav1.Time{Time: in.Now.Truncate(time.Second)}
	}
}

// leftBehind says what a person must see to where the claim was left without its volume.
func leftBehind(in input) string {
	if c := in.World.Claim; !c.empty() || !c.Reserved {
		return ""
	}
	return " " + claimName(in) + " is left, or what waits for it would be given an empty one. " +
		"If it is not bound by now, delete what waits for it, then the claim, and restore again."
}
