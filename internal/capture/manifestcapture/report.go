package manifestcapture

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// report notes the moment before anything is read, what was found, and what came of it.
func report(out *capturev1.ManifestCaptureRequest, in input, p fsm.Pass) {
	s, w := &out.Status, in.World
	switch s.Phase {
	case Reading, Writing:
		reportRead(s, w, p.Decision)
	case Verifying, Succeeded:
		reportCheckpoint(s, w)
	case CleaningUp:
		if s.Failure == nil {
			s.Failure = request.FailureOf(&s.Progress, CleaningUp)
		}
	}
	if (s.Phase == Succeeded || s.Phase == Failed) && s.CompletionTimestamp == nil {
		s.CompletionTimestamp = &metav1.Time{Time: in.Now.Truncate(time.Second)}
	}
}

// reportRead notes the moment, and what was found then.
func reportRead(s *capturev1.ManifestCaptureRequestStatus, w World, d fsm.Decision) {
	if s.ResourceVersion == "" || d.Save {
		s.ResourceVersion = w.Moment
	}
	if found := w.on(TaskRead).Found; found != nil && s.Phase == Writing {
		s.Expected, s.Skipped = found.Expected, found.Skipped
	}
}

// reportCheckpoint: what was committed is what counts, whoever wrote it.
func reportCheckpoint(s *capturev1.ManifestCaptureRequestStatus, w World) {
	c, checked := w.Checkpoint, w.on(TaskVerify).Checked
	if c.Sight != presence.Here {
		return
	}
	if s.Phase == Succeeded && checked != nil {
		s.Captured = *checked
	}
	s.CheckpointRef = &capturev1.ArtifactRef{
		APIVersion: capturev1.GroupVersion.String(), Kind: "ManifestCheckpoint", Name: c.Name, UID: c.UID,
	}
	s.ResourceVersion, s.Expected, s.Skipped = c.ResourceVersion, c.Expected, c.Skipped
}
