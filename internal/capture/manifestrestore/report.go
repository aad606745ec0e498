package manifestrestore

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// report keeps which checkpoint it is, what became of the objects, and when it ended.
func report(out *capturev1.ManifestRestoreRequest, in input, _ fsm.Pass) {
	s := &out.Status
	unknown := s.CheckpointRef == nil || Checks(in.Obj.Status.Phase)
	if unknown && in.World.Source.Sight == Found && !Checks(s.Phase) {
		s.CheckpointRef = in.World.Source.Checkpoint.DeepCopy()
	}
	if ended(s.Phase) && s.CompletionTimestamp == nil {
		s.CompletionTimestamp = &metav1.Time{Time: in.Now.Truncate(time.Second)}
	}
	if r, has := news(in, s.Phase); has {
		s.Objects = r.Objects
		// A plan is not a result, unless it is all there is.
		if in.World.Work.Stage != Plan || ended(s.Phase) {
			s.Counts, s.Results = counts(r), slices.Clone(r.Results)
		}
	}
}

// news is what a job has found, if it is of a phase that may have begun one. A job that could not go on has news if it
// wrote before.
func news(in input, phase fsm.Phase) (*Report, bool) {
	r := in.World.Work.Report
	begun := phase != Pending && phase != Preparing
	return r, begun && r != nil && (r.Refusal == "" || r.Objects > 0) && r.Awaits == "" && in.World.Work.State == Ended
}

func counts(r *Report) map[string]int32 {
	counts := map[string]int32{}
	for result, n := range r.Counts {
		counts[string(result)] = n
	}
	return counts
}

// Checks says that a request in this phase was not begun: which checkpoint it is was not found yet.
func Checks(phase fsm.Phase) bool { return phase == "" || phase == Pending || phase == Preparing }

func ended(phase fsm.Phase) bool { return phase == Succeeded || phase == Failed }
