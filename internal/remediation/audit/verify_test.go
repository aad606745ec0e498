package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

var now = time.Date(2026, 11, 19, 13, 0, 0, 0, time.UTC)

// history is a chain of four executions, each with its intent and its outcome, and what the cluster says of them.
func history(t *testing.T, keys Keys) (records []Record, cluster []Execution) {
	t.Helper()
	last := Last{}
	add := func(key, body string) Record {
		r := keys.Next("c1", last, key, body)
		records, last = append(records, r), Last{Seq: r.Seq, Hash: r.Hash}
		return r
	}
	for i := range 4 {
		uid := types.UID(fmt.Sprint("x", i+1))
		intent := add(IntentKey(uid), "{}")
		add(OutcomeKey(uid), "{}")
		cluster = append(cluster, Execution{Namespace: "shop", Name: fmt.Sprint("more-", i+1), UID: uid, Seq: intent.Seq, Hash: intent.Hash, Ended: now.Add(-time.Hour)})
	}
	return records, cluster
}

func verify(keys Keys, records []Record, cluster []Execution) Report {
	v := Verifier{Chain: "c1", Keys: keys, Executions: cluster, Now: now}
	v.Begin()
	for _, r := range records {
		v.Next(r)
	}
	return v.End()
}

// found says what was found in a line each.
func found(r Report) (lines []string) {
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%s %d: %s", f.Fault, f.Seq, f.Message))
	}
	for _, n := range r.Notes {
		lines = append(lines, "note: "+n)
	}
	return lines
}

// TestVerify: each way to change a chain is found, named, and nothing else is.
func TestVerify(t *testing.T) {
	keys, thief := mustKeys(t, "a "+key("a")), mustKeys(t, "a "+key("b"))
	const x3 = "KubernetesExecution shop/more-3 (x3)"
	for name, tc := range map[string]struct {
		change func(records []Record, cluster []Execution) ([]Record, []Execution)
		want   []string
	}{
		"nothing": {func(r []Record, c []Execution) ([]Record, []Execution) { return r, c }, nil},
		"an edited body": {func(r []Record, c []Execution) ([]Record, []Execution) { r[2].Body = `{"by":"olga"}`; return r, c },
			[]string{"Altered 3: record 3 was edited, or written by somebody without the key."}},
		"an edited hash": {func(r []Record, c []Execution) ([]Record, []Execution) { r[1].Hash = First; return r, c },
			[]string{"Altered 2: record 2 was edited, or written by somebody without the key.",
				"NoOutcome 0: KubernetesExecution shop/more-1 (x1) ended at 2026-11-19T12:00:00Z, and no record says how."}},
		"a row deleted in the middle": {func(r []Record, c []Execution) ([]Record, []Execution) { return slices.Delete(r, 1, 2), c },
			[]string{"Deleted 2: record 2 is missing before record 3.",
				"NoOutcome 0: KubernetesExecution shop/more-1 (x1) ended at 2026-11-19T12:00:00Z, and no record says how."}},
		"rows deleted at the beginning": {func(r []Record, c []Execution) ([]Record, []Execution) { return r[2:], c[1:] },
			[]string{"Deleted 1: records 1 to 2 are missing before record 3."}},
		"a tail that is cut off": {func(r []Record, c []Execution) ([]Record, []Execution) {
			c[2].Ended, c[3].Ended = time.Time{}, time.Time{}
			return r[:4], c
		},
			[]string{"CutOff 5: " + x3 + " has saved that its intent is record 5, and the chain ends with record 4.",
				"CutOff 7: KubernetesExecution shop/more-4 (x4) has saved that its intent is record 7, and the chain ends with record 4."}},
		"a row that is forged at the end": {func(r []Record, c []Execution) ([]Record, []Execution) {
			last := r[len(r)-1]
			return append(r, thief.Next("c1", Last{last.Seq, last.Hash}, OutcomeKey("x9"), "{}")), c
		}, []string{"Altered 9: record 9 was edited, or written by somebody without the key."}},
		"a row of a key that is not there": {func(r []Record, c []Execution) ([]Record, []Execution) { r[2].KeyID = "z"; return r, c },
			[]string{`UnknownKey 3: record 3 names the key "z", which is not in the key file: it is forged, or the file lacks an old key.`}},
		"a tail written anew with the key": {func(r []Record, c []Execution) ([]Record, []Execution) {
			r[4] = keys.Next("c1", Last{r[3].Seq, r[3].Hash}, IntentKey("x9"), "{}")
			return r[:5], append(c[:2], Execution{Namespace: "shop", Name: "more-3", UID: "x3", Seq: 5, Hash: c[2].Hash})
		}, []string{"Replaced 5: record 5 is not the intent that " + x3 + " has saved: the records from there on, or some before it, were written anew.",
			"note: Record 5 is the intent of an execution that is gone, and no record says how it ended: it was deleted before that was recorded."}},
		"a row replaced with the key": {func(r []Record, c []Execution) ([]Record, []Execution) {
			r[3] = keys.Next("c1", Last{r[2].Seq, r[2].Hash}, r[3].Key, `{"effect":"None"}`)
			return r, c
		}, []string{"Replaced 5: record 5 does not follow the record before it, which was replaced."}},
		"an end without an outcome": {func(r []Record, c []Execution) ([]Record, []Execution) { return r[:7], c },
			[]string{"NoOutcome 0: KubernetesExecution shop/more-4 (x4) ended at 2026-11-19T12:00:00Z, and no record says how."}},
		"an end without an outcome, and a decision that quotes one": {func(r []Record, c []Execution) ([]Record, []Execution) {
			return append(r[:7], keys.Next("c1", Last{r[6].Seq, r[6].Hash}, Key("x4/outcome/1", Decision, "a1"), "{}")), c
		}, []string{"NoOutcome 0: KubernetesExecution shop/more-4 (x4) ended at 2026-11-19T12:00:00Z, and no record says how."}},
		"an end of just now": {func(r []Record, c []Execution) ([]Record, []Execution) { c[3].Ended = now; return r[:7], c },
			[]string{"note: KubernetesExecution shop/more-4 (x4) has just ended; its outcome is being recorded."}},
		"an execution that was deleted before its end was recorded": {func(r []Record, c []Execution) ([]Record, []Execution) { return r[:7], c[:3] },
			[]string{"note: Record 7 is the intent of an execution that is gone, and no record says how it ended: it was deleted before that was recorded."}},
		"a chain that is gone": {func(_ []Record, c []Execution) ([]Record, []Execution) { return nil, c[2:3] },
			[]string{"CutOff 5: " + x3 + " has saved that its intent is record 5, and the chain ends with record 0.",
				"NoOutcome 0: " + x3 + " ended at 2026-11-19T12:00:00Z, and no record says how."}},
		"the same row twice": {func(r []Record, c []Execution) ([]Record, []Execution) { return slices.Insert(r, 2, r[1]), c },
			[]string{"Replaced 2: record 2 is there twice.", "Replaced 2: record 2 does not follow the record before it, which was replaced."}[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			records, cluster := history(t, keys)
			records, cluster = tc.change(records, cluster)
			if diff := cmp.Diff(strings.Join(tc.want, "\n"), strings.Join(found(verify(keys, records, cluster)), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
