package manifestrestore

import (
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// TestWhichCheckpointItIsIsWrittenByTheManagerAlone: a status that names one before the restore has begun is somebody else's.
func TestWhichCheckpointItIsIsWrittenByTheManagerAlone(t *testing.T) {
	said := &capturev1.ArtifactRef{Name: "theirs", UID: "c9"}
	for phase, want := range map[fsm.Phase]string{"": theCheckpoint.Name, Pending: theCheckpoint.Name, Preparing: theCheckpoint.Name, Planning: "theirs"} {
		obj := newRequest()
		obj.Status.Phase, obj.Status.CheckpointRef = phase, said
		out := obj.DeepCopy()
		out.Status.Phase = Planning
		w := World{Source: Source{Sight: Found, Checkpoint: theCheckpoint}}
		report(out, input{Obj: obj, World: w, Now: createdAt.Time}, fsm.Pass{})
		if got := out.Status.CheckpointRef.Name; got != want {
			t.Errorf("from phase %q: %s", phase, got)
		}
	}
}
