// Package proof has what every proof is made of: the very objects that it is about, when and
// what was seen. A proof allows one thing that cannot be undone, with these objects and no
// others: a successor under the same name needs a proof of its own.
//
// An area declares its proofs as types of its own, around an Evidence, so that what a proof
// allows is in its type and only the package that looked can make one.
package proof

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Subject is what a proof is about, by what it never shares with another: for an object its
// UID, for something inside another system the ID that this system gave it.
type Subject struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Evidence is what was seen, of which subjects, and when. It is comparable, as effects are.
type Evidence struct {
	subjects, seen string
	taken          int64 // in seconds; 0 is not known
}

// Nothing that names a subject holds these characters.
const (
	betweenFields   = "\x00"
	betweenSubjects = "\n"
)

// New is evidence about subjects. One without a UID is left out: nothing tells it from its
// successor, so the evidence is not of it.
func New(seen string, subjects ...Subject) Evidence {
	var whole []string
	for _, s := range subjects {
		if s.UID != "" {
			whole = append(whole, s.text())
		}
	}
	return Evidence{subjects: strings.Join(whole, betweenSubjects), seen: seen}
}

func (s Subject) text() string {
	return strings.Join([]string{s.Kind, s.Namespace, s.Name, string(s.UID)}, betweenFields)
}

// TakenAt is the evidence with the time at which it was taken.
func (e Evidence) TakenAt(at time.Time) Evidence {
	e.taken = at.Unix()
	return e
}

// Age is how old the evidence is, in whole seconds, and whether that is known.
func (e Evidence) Age(now time.Time) (age time.Duration, known bool) {
	return now.Sub(time.Unix(e.taken, 0)), e.taken != 0
}

// Of says that it is about this very subject.
func (e Evidence) Of(s Subject) bool {
	return s.UID != "" && slices.Contains(strings.Split(e.subjects, betweenSubjects), s.text())
}

// Subjects are all that it is about.
func (e Evidence) Subjects() (subjects []Subject) {
	for text := range strings.SplitSeq(e.subjects, betweenSubjects) {
		if f := strings.Split(text, betweenFields); len(f) == 4 {
			subjects = append(subjects, Subject{f[0], f[1], f[2], types.UID(f[3])})
		}
	}
	return subjects
}

// String is what was seen, for a status and its events.
func (e Evidence) String() string { return e.seen }
