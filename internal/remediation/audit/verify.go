package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Fault is what is wrong with a chain.
type Fault string

// The faults.
const (
	Altered      Fault = "Altered"      // a record was edited, or written by somebody without the key
	UnknownKey   Fault = "UnknownKey"   // a record names a key that is not in the file
	Deleted      Fault = "Deleted"      // records are missing before others
	Replaced     Fault = "Replaced"     // a record does not follow the one before it, or is not the one that an execution names
	CutOff       Fault = "CutOff"       // records at the end are missing that an execution names
	NoOutcome    Fault = "NoOutcome"    // an execution has ended, and no record says how
	ForeignChain Fault = "ForeignChain" // a record is of another cluster
)

// Finding is one thing that is wrong.
type Finding struct {
	Fault Fault `json:"fault"`
	// Seq is the record; 0 is none.
	Seq int64 `json:"seq,omitempty"`
	// About is the key of the record, or the execution.
	About   string `json:"about,omitempty"`
	Message string `json:"message"`
}

// Verifier compares a chain, record by record, with its keys and with what the cluster says.
type Verifier struct {
	Chain string
	Keys  Keys
	// Executions are those of the cluster, read before the records: then each intent that they name must be there.
	Executions []Execution
	Now        time.Time

	anchors map[int64]Execution
	// unseen are executions without an outcome so far.
	unseen map[types.UID]Execution
	// open are executions that the cluster does not have, with an intent and without an outcome so far.
	open   map[types.UID]int64
	known  map[types.UID]bool
	last   Record
	broken bool // what the last record has as its hash proves nothing
	report Report
}

// Report is what a verification came to.
type Report struct {
	Chain    string    `json:"chain"`
	Records  int64     `json:"records"`
	Last     string    `json:"last,omitempty"` // the hash of the last record
	Anchors  int       `json:"anchors"`        // intents that executions of the cluster name
	Findings []Finding `json:"findings,omitempty"`
	// Notes are what nobody can tell from here.
	Notes []string `json:"notes,omitempty"`
}

// recording is how long after an end its record may be missing: the manager records every few seconds.
const recording = 5 * time.Minute

// Begin takes in what the cluster says.
func (v *Verifier) Begin() {
	v.anchors, v.unseen, v.open, v.known = map[int64]Execution{}, map[types.UID]Execution{}, map[types.UID]int64{}, map[types.UID]bool{}
	v.report.Chain = v.Chain
	for _, x := range v.Executions {
		v.known[x.UID] = true
		if !x.Ended.IsZero() {
			v.unseen[x.UID] = x
		}
		if x.Seq == 0 {
			continue
		}
		v.report.Anchors++
		if other, taken := v.anchors[x.Seq]; taken {
			v.find(Replaced, x.Seq, x.title(), "%s and %s name the same record for their intents", other.title(), x.title())
			continue
		}
		v.anchors[x.Seq] = x
	}
}

func (v *Verifier) find(fault Fault, seq int64, about, message string, args ...any) {
	v.report.Findings = append(v.report.Findings, Finding{Fault: fault, Seq: seq, About: about, Message: fmt.Sprintf(message, args...) + "."})
}

// Next takes in the next record, in the order of their numbers.
func (v *Verifier) Next(r Record) {
	v.report.Records++
	expected := v.last.Seq + 1
	fault := v.Keys.Check(r)
	switch {
	case r.Chain != v.Chain:
		v.find(ForeignChain, r.Seq, r.Key, "record %d is of chain %s", r.Seq, r.Chain)
	case fault == UnknownKey:
		v.find(UnknownKey, r.Seq, r.Key, "record %d names the key %q, which is not in the key file: it is forged, or the file lacks an old key", r.Seq, r.KeyID)
	case fault == Altered:
		v.find(Altered, r.Seq, r.Key, "record %d was edited, or written by somebody without the key", r.Seq)
	}
	switch {
	case r.Seq < expected: // the database refuses that, unless somebody has removed its primary key
		v.find(Replaced, r.Seq, r.Key, "record %d is there twice", r.Seq)
	case r.Seq > expected:
		v.find(Deleted, expected, "", "%s before record %d", missing(expected, r.Seq-1), r.Seq)
	case fault == "" && !v.broken && r.Prev != cmp.Or(v.last.Hash, First):
		v.find(Replaced, r.Seq, r.Key, "record %d does not follow the record before it, which was replaced", r.Seq)
	}
	v.anchor(r)
	v.executions(r, fault)
	v.last, v.broken = r, fault != ""
}

func missing(from, to int64) string {
	if from == to {
		return fmt.Sprintf("record %d is missing", from)
	}
	return fmt.Sprintf("records %d to %d are missing", from, to)
}

// anchor compares a record with the execution that names it.
func (v *Verifier) anchor(r Record) {
	x, is := v.anchors[r.Seq]
	if !is {
		return
	}
	delete(v.anchors, r.Seq)
	if r.Hash != x.Hash || r.Key != IntentKey(x.UID) {
		v.find(Replaced, r.Seq, r.Key, "record %d is not the intent that %s has saved: the records from there on, or some before it, were written anew", r.Seq, x.title())
	}
}

// executions notes what a record that can be trusted says of its execution.
func (v *Verifier) executions(r Record, fault Fault) {
	uid, kind := executionOf(r.Key)
	switch {
	case fault != "":
	case kind == Outcome:
		delete(v.unseen, uid)
		delete(v.open, uid)
	case kind == Intent && !v.known[uid]:
		v.open[uid] = r.Seq
	}
}

// End says what was found.
func (v *Verifier) End() Report {
	v.report.Last = v.last.Hash
	for _, seq := range slices.Sorted(maps.Keys(v.anchors)) {
		x := v.anchors[seq]
		if seq > v.last.Seq {
			v.find(CutOff, seq, x.title(), "%s has saved that its intent is record %d, and the chain ends with record %d", x.title(), seq, v.last.Seq)
		}
	}
	byName := func(a, b Execution) int { return cmp.Compare(a.title(), b.title()) }
	for _, x := range slices.SortedFunc(maps.Values(v.unseen), byName) {
		if v.Now.Sub(x.Ended) < recording {
			v.report.Notes = append(v.report.Notes, x.title()+" has just ended; its outcome is being recorded.")
			continue
		}
		v.find(NoOutcome, 0, x.title(), "%s ended at %s, and no record says how", x.title(), x.Ended.UTC().Format(time.RFC3339))
	}
	for _, uid := range slices.SortedFunc(maps.Keys(v.open), func(a, b types.UID) int { return cmp.Compare(v.open[a], v.open[b]) }) {
		v.report.Notes = append(v.report.Notes, fmt.Sprintf("Record %d is the intent of an execution that is gone, and no record says how it ended: it was deleted before that was recorded.", v.open[uid]))
	}
	return v.report
}
