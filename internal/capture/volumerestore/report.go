package volumerestore

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// ProbeName is the name of the Job of a rehearsal.
func ProbeName(uid types.UID) string { return "rehearsal-" + string(uid) }

// sourced says that it is decided what is restored. A request that lost its status may find
// that it had succeeded, or that it is being given up with a claim of its own.
func sourced(phase fsm.Phase, w World) bool {
	return slices.Contains([]fsm.Phase{Restoring, Rehearsing, Succeeded}, phase) || phase == CleaningUp && w.Claim.Sight == Ours
}

// report notes what is restored once it is decided, what was made, and why a request is
// given up while that must not be forgotten.
func report(out *capturev1.VolumeRestoreRequest, in input, _ fsm.Decision, outcomes []fsm.Outcome) {
	s, w := &out.Status, in.World
	if s.Source == nil && w.Source.Sight == Ready && sourced(s.Phase, w) {
		s.Source = w.Source.Resolved.DeepCopy()
	}
	if s.PVCRef == nil && w.Claim.bound() && (s.Phase == Rehearsing || s.Phase == Succeeded) {
		s.PVCRef = &capturev1.ArtifactRef{
			APIVersion: corev1.SchemeGroupVersion.String(), Kind: "PersistentVolumeClaim",
			Name: in.Obj.Spec.VolumeClaimTemplate.Name, UID: w.Claim.UID,
		}
	}
	if s.Phase == CleaningUp && s.Failure == nil {
		s.Failure = verdictOf(out, in, outcomes)
	}
	if s.Phase == Succeeded || s.Phase == Failed {
		s.Failure = nil // the condition has it
		s.CompletionTimestamp = &metav1.Time{Time: in.Now.Truncate(time.Second)}
	}
}

// verdictOf puts into words why the last move was to CleaningUp.
func verdictOf(out *capturev1.VolumeRestoreRequest, in input, outcomes []fsm.Outcome) *capturev1.RequestFailure {
	last := meta.Transition{Event: fsm.Lost, Reason: fsm.Reason(fsm.Lost)}
	for _, move := range out.Status.History {
		last = move
	}
	v := &capturev1.RequestFailure{Reason: last.Reason}
	for _, o := range outcomes {
		if o.Err != nil {
			v.Message = o.Effect.String() + ": " + fsm.Said(o.Err)
		}
	}
	for _, said := range []verdict{refused(in), troubled(in), {decideRehearsing(in).Reason, decideRehearsing(in).Message}} {
		if v.Message == "" && said.Reason == last.Reason {
			v.Message = said.Message
		}
	}
	switch {
	case v.Message != "":
	case last.Reason == capturev1.ReasonDeadlineExceeded:
		v.Message = fmt.Sprintf("not done %d seconds after it was made%s", in.Obj.Spec.DeadlineSeconds, waited(out, in))
	case last.Reason == capturev1.ReasonSourceNotReady:
		v.Message = in.World.Source.What + " was not finished in time"
	case last.Event == fsm.Lost:
		v.Message = "the status was lost after the request had begun; look whether the claim is there, and make another request if it is not"
	}
	v.Message = fsm.Cut(v.Message)
	return v
}

// leftBehind says what a person must see to where the claim was left without its volume.
func leftBehind(in input) string {
	if c := in.World.Claim; !c.empty() || !c.Reserved {
		return ""
	}
	return "; " + claimName(in) + " is left, or what waits for it would be given an empty one. " +
		"If it is not bound by now, delete what waits for it, then the claim, and restore again"
}

// waited says what a request has waited for, as far as that is known.
func waited(out *capturev1.VolumeRestoreRequest, in input) string {
	what := in.Obj.Status.WaitingFor
	if what == "" && out.Status.Source != nil {
		what = awaited(in, out.Status.Source)
	}
	if what == "" {
		return ""
	}
	return "; it waited for " + what
}
