package manifestcapture

import (
	"slices"

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
	case StartReading:
		w = begin(w, TaskRead)
	case StartWriting:
		w = begin(w, TaskWrite)
	case StartVerifying:
		w = begin(w, TaskVerify)
	case StopWork:
		w.Work = Work{}
	case Remove:
		w.Leftovers = slices.DeleteFunc(slices.Clone(w.Leftovers), func(l Leftover) bool { return l == e.Leftover })
		if e.Kind == KindCheckpoint {
			w.Checkpoint = Checkpoint{Sight: presence.Gone}
		}
	}
	return w
}

func begin(w World, t Task) World {
	if w.Work.Task != t || w.Work.State != Running {
		w.Work = Work{Task: t, State: Running}
	}
	return w
}

// Settle is what work does meanwhile: three objects are found, written and read back.
func Settle(r *capturev1.ManifestCaptureRequest, w World) World {
	if w.Work.State != Running {
		return w
	}
	const objects int32 = 3
	w.Work.State = Ended
	switch w.Work.Task {
	case TaskRead:
		w.Work.Found = &Found{Expected: objects}
	case TaskWrite:
		w.Checkpoint = Checkpoint{
			Sight: presence.Here, Name: string(r.UID), UID: "checkpoint",
			Found: Found{Expected: objects}, ResourceVersion: r.Status.ResourceVersion,
		}
	case TaskVerify:
		checked := objects
		w.Work.Checked = &checked
	}
	return w
}
