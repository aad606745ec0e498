package manifestrestore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// report keeps which checkpoint it is, what became of the objects, and when it ended.
func report(out *capturev1.ManifestRestoreRequest, in input, _ fsm.Pass) {
	s := &out.Status
	if s.CheckpointRef == nil && in.World.Source.Sight == Found && s.Phase != Pending && s.Phase != Preparing {
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

// news is what a job has found, if it is of a phase that may have begun one.
func news(in input, phase fsm.Phase) (*Report, bool) {
	r := in.World.Work.Report
	begun := phase != Pending && phase != Preparing
	return r, begun && r != nil && r.Refusal == "" && r.Awaits == "" && in.World.Work.State == Ended
}

func counts(r *Report) map[string]int32 {
	counts := map[string]int32{}
	for result, n := range r.Counts {
		counts[string(result)] = n
	}
	return counts
}

func ended(phase fsm.Phase) bool { return phase == Succeeded || phase == Failed }

// summary says in one or two sentences what became of the objects, and names the first that failed.
func summary(r *Report) string {
	var words []string
	for _, result := range order {
		if n := r.Counts[result]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, strings.ToLower(string(result))))
		}
	}
	text := fmt.Sprintf("Of %d objects: %s.", r.Objects, strings.Join(words, ", "))
	if len(words) == 0 {
		text = "The checkpoint holds no objects."
	}
	if len(r.Results) > 0 && r.Results[0].Result == capturev1.ResultFailed {
		first := r.Results[0]
		text += fmt.Sprintf(" The first that failed is %s %s (%s).", first.Resource, first.Name, first.Reason)
	}
	return text
}
