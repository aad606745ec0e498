package explain

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Facts are all that an answer rests on.
type Facts struct {
	Area  string
	Kinds []string // of the area
	Table Table

	Namespace, Name string
	Generation      int64
	Created         metav1.Time
	Deleted         *metav1.Time
	Progress        meta.Progress
	Lanes           []Lane
	Figures         []Figure
	Sections        []Section
	// Broken says why the status cannot be understood; then nothing else is known.
	Broken string

	Events   []Event
	Children []Child
	Leader   Leader
	// Unseen says what could not be looked at, and why.
	Unseen []string
	Now    time.Time
}

// Lane is where one lane of the object stands.
type Lane struct {
	Name string
	meta.Place
}

// Figure is one number or name of the area's own that tells how the object is.
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Event is a warning about the object.
type Event struct {
	At     metav1.Time `json:"at"`
	Reason string      `json:"reason"`
	Note   string      `json:"note"`
	Count  int32       `json:"count,omitempty"`
}

// Child is an object that belongs to the object.
type Child struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Ready string `json:"ready"` // in a word or two
	Why   string `json:"why,omitempty"`
}

// Leader is what was seen of the election of the area's manager.
type Leader struct {
	Lease    string // namespace/name of the Lease that was looked for
	Found    bool
	Hidden   bool   // it may not be read; or, if one was found, others may not be looked for
	Holder   string // "" if it was released
	Renewed  time.Time
	Duration time.Duration
}

// Leads says that a manager did so when it was looked at.
func (l Leader) Leads(now time.Time) bool {
	return l.Found && l.Holder != "" && now.Before(l.Renewed.Add(l.Duration))
}

// lastSeen is until when a manager looked at objects, if that is known.
func (l Leader) lastSeen() string {
	if !l.Found || l.Renewed.IsZero() {
		return ""
	}
	return ", at " + Moment(metav1.NewTime(l.Renewed))
}
