package keeper

import "github.com/statecraft-dev/statecraft/internal/presence"

// World is what a keeper may look at.
type World struct {
	// Followed is Gone as well if another has its name, and never because a read failed.
	Followed  presence.State     `json:"followed,omitempty"`
	Why       presence.Blindness `json:"why,omitempty"`  // of Followed being Unknown
	Live      bool               `json:"live,omitempty"` // Followed is from a live read, not from the cache
	Namespace Namespace          `json:"namespace,omitempty"`
	Gone      bool               `json:"gone,omitempty"` // the keeper itself; only the model says so
}

// Namespace is the state of the followed object's namespace; "" is not read.
type Namespace string

// The states of a namespace.
const (
	Living Namespace = "Living"
	Ending Namespace = "Ending" // Terminating, gone, or another UID under its name
)

// KindRemoved is a kind of blindness: the CRD of the followed object is being removed, or was re-created since.
const KindRemoved presence.Blindness = "KindRemoved"

// advice says who must act.
func advice(b presence.Blindness, kind string) string {
	switch b {
	case presence.Forbidden:
		return "the manager may not read " + kind + "; label a ClusterRole that allows it with capture.statecraft.dev/followable=true."
	case presence.Unserved:
		return "the API server does not serve " + kind + "; install its CRD again, or delete the keeper if what it owns is not needed."
	case KindRemoved:
		return "the CRD of " + kind + " was removed or created anew, which deletes objects that no user meant to delete; delete the keeper if what it owns is not needed."
	}
	return "the read failed; the manager tries again."
}
