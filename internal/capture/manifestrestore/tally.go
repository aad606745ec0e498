package manifestrestore

import (
	"slices"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// order is that of results in a status: first what somebody must look at.
var order = []capturev1.RestoreResult{
	capturev1.ResultFailed, capturev1.ResultPending, capturev1.ResultReplaced, capturev1.ResultSkipped,
	capturev1.ResultUnchanged, capturev1.ResultCreated,
}

const (
	mostResults = 2000
	// mostWords is how many bytes of messages and field paths a status holds: all of it must
	// fit into one object of etcd, besides the names.
	mostWords   = 512 << 10
	mostMessage = 512
	mostChanged = 32
)

// Tally is the report of a job with these results, in the order of the plan.
func Tally(results []capturev1.ObjectResult) *Report {
	r := &Report{Objects: int32(len(results)), Counts: map[capturev1.RestoreResult]int32{}, Reasons: map[fsm.Reason]int32{}}
	for i := range results {
		r.Counts[results[i].Result]++
		if results[i].Result == capturev1.ResultFailed {
			r.Reasons[results[i].Reason]++
		}
	}
	for _, kind := range order {
		for i := range results {
			if results[i].Result == kind && len(r.Results) < mostResults {
				r.Results = append(r.Results, results[i])
			}
		}
	}
	shorten(r.Results)
	return r
}

// shorten keeps words within what a status holds.
func shorten(results []capturev1.ObjectResult) {
	words := 0
	for i := range results {
		r := &results[i]
		r.Changed = Few(r.Changed)
		r.Message = cut(r.Message, mostMessage)
		words += len(r.Message)
		for _, path := range r.Changed {
			words += len(path)
		}
		if words > mostWords {
			r.Message, r.Changed = "", nil
		}
	}
}

// Few are the first of the fields that a restore changes, as many as are told: of an object with thousands the mark would
// not fit into its annotations.
func Few(changed []string) []string {
	if len(changed) <= mostChanged {
		return changed
	}
	return append(slices.Clone(changed[:mostChanged-1]), "…")
}

// cut keeps a text within so many characters.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
