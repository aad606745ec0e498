// Package presence is what a live read of one object said: that it is there, that it is gone
// for certain, that another has its name, or that nobody knows. Machines decide by it; package
// kube/read finds it out.
package presence

// State is what a live read said; "" is not read, which says nothing.
type State string

// The states. Destroying or ending something needs Gone, and never Unknown.
const (
	Here    State = "Here"    // and it is the one that was meant
	Gone    State = "Gone"    // the API server says so, by a 404 that names it
	Other   State = "Other"   // another object has its name: another UID, or somebody else's
	Unknown State = "Unknown" // the read failed; Blindness says why
)

// Blindness is why something is Unknown.
type Blindness string

// The kinds of blindness. The first two last until a person does something.
const (
	Forbidden  Blindness = "Forbidden"  // the manager may not read that kind
	Unserved   Blindness = "Unserved"   // the API server does not serve that kind
	Unreadable Blindness = "Unreadable" // the read failed, and may succeed the next time
)

// Lasts says that a person must act before a read can succeed.
func (b Blindness) Lasts() bool { return b == Forbidden || b == Unserved }
