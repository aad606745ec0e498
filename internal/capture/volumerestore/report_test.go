package volumerestore

import (
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// TestWhatIsRestoredIsWrittenByTheManagerAlone: a status that names a source before the restore has begun is somebody else's.
func TestWhatIsRestoredIsWrittenByTheManagerAlone(t *testing.T) {
	said := &capturev1.ResolvedSource{Driver: "disks.example.com", SnapshotHandle: "theirs"}
	for phase, want := range map[fsm.Phase]string{"": "snap-1", Pending: "snap-1", Preparing: "snap-1", Restoring: "theirs"} {
		obj := newRequest()
		obj.Status.Phase, obj.Status.Source = phase, said
		out := obj.DeepCopy()
		out.Status.Phase = Restoring
		report(out, input{Obj: obj, World: newBench().World(), Now: createdAt.Time}, fsm.Pass{})
		if got := out.Status.Source.SnapshotHandle; got != want {
			t.Errorf("from phase %q: %s", phase, got)
		}
	}
}
