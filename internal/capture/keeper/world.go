package keeper

// World is what a keeper may look at.
type World struct {
	Followed  Sight     `json:"followed,omitempty"`
	Why       Blindness `json:"why,omitempty"`  // of Followed being Unknown
	Live      bool      `json:"live,omitempty"` // Followed is from a live read, not from the cache
	Namespace Namespace `json:"namespace,omitempty"`
	Gone      bool      `json:"gone,omitempty"` // the keeper itself; only the model says so
}

// Sight is what a read of the followed object said; "" is not read.
type Sight string

// The sights. Forbidden, an unserved kind and errors are Unknown, never Gone.
const (
	Here    Sight = "Here"
	Gone    Sight = "Gone" // a 404 that names it, or another UID under its name
	Unknown Sight = "Unknown"
)

// Namespace is the state of the followed object's namespace; "" is not read.
type Namespace string

// The states of a namespace.
const (
	Living Namespace = "Living"
	Ending Namespace = "Ending" // Terminating, gone, or another UID under its name
)

// Blindness is why the followed object is Unknown.
type Blindness string

// The kinds of blindness.
const (
	Forbidden   Blindness = "Forbidden"   // the manager may not read that kind
	Unserved    Blindness = "Unserved"    // the API server does not serve that kind
	KindRemoved Blindness = "KindRemoved" // its CRD is being removed, or was re-created since
	Unreadable  Blindness = "Unreadable"  // the read failed
)

// advice says who must act.
func (b Blindness) advice(kind string) string {
	switch b {
	case Forbidden:
		return "the manager may not read " + kind + "; label a ClusterRole that allows it with capture.statecraft.dev/followable=true"
	case Unserved:
		return "the API server does not serve " + kind + "; install its CRD again, or delete the keeper if what it keeps is not needed"
	case KindRemoved:
		return "the CRD of " + kind + " was removed or made anew, which deletes objects that nobody meant to delete; delete the keeper if what it keeps is not needed"
	}
	return "the read failed; it is tried again"
}
