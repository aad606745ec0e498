package manifestrestore

import (
	"fmt"
	"strings"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// tense is how results are told: as what happened or, by a dry run, as what would have.
type tense struct {
	words map[capturev1.RestoreResult]string
	fail  string
}

var (
	happened = tense{fail: "failed", words: map[capturev1.RestoreResult]string{
		capturev1.ResultFailed: "failed", capturev1.ResultPending: "not restored", capturev1.ResultReplaced: "replaced",
		capturev1.ResultSkipped: "skipped", capturev1.ResultUnchanged: "unchanged", capturev1.ResultCreated: "created",
	}}
	would = tense{fail: "would fail", words: map[capturev1.RestoreResult]string{
		capturev1.ResultFailed: "would fail", capturev1.ResultPending: "would not be restored", capturev1.ResultReplaced: "would be replaced",
		capturev1.ResultSkipped: "would be skipped", capturev1.ResultUnchanged: "would stay as they are", capturev1.ResultCreated: "would be created",
	}}
)

// summary says in one or two sentences what became of the objects, and names the first that failed.
func summary(r *Report) string { return happened.tell(r) }

// unwritten is what a plan has to say at its end: of a dry run what would have been done, of a restore that it refuses
// that nothing was.
func unwritten(spec capturev1.ManifestRestoreRequestSpec, r *Report) string {
	if spec.DryRun {
		return "This was a dry run, and nothing was written. " + would.tell(r)
	}
	return "Nothing was written. " + happened.tell(r)
}

// broken is why a restore could not go on, and what it had done by then.
func broken(r *Report) string {
	if r.Objects == 0 {
		return r.Message
	}
	return r.Message + " " + summary(r)
}

func (t tense) tell(r *Report) string {
	var words []string
	for _, result := range order {
		if n := r.Counts[result]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, t.words[result]))
		}
	}
	objects := fmt.Sprintf("%d objects", r.Objects)
	if r.Objects == 1 {
		objects = "1 object"
	}
	text := fmt.Sprintf("Of %s: %s.", objects, strings.Join(words, ", "))
	if len(words) == 0 {
		text = "The checkpoint holds no objects."
	}
	if len(r.Results) > 0 && r.Results[0].Result == capturev1.ResultFailed {
		first := r.Results[0]
		text += fmt.Sprintf(" The first that %s is %s %s (%s).", t.fail, first.Resource, first.Name, first.Reason)
	}
	return text
}
