package request

import "k8s.io/apimachinery/pkg/types"

// Keeping is what is known of a request's keeper.
type Keeping struct {
	Sight Sight     `json:"sight,omitempty"`
	UID   types.UID `json:"uid,omitempty"` // of the keeper, if it is ours
	// Namespace is the UID of the request's namespace: as the keeper says, and as it is read
	// while there is no keeper.
	Namespace types.UID `json:"namespace,omitempty"`
}

// Sight is what a read of the keeper's name said; "" is not read.
type Sight string

// The sights of a keeper. Only a live read says Missing or Taken.
const (
	Missing Sight = "Missing"
	Ours    Sight = "Ours"
	Taken   Sight = "Taken" // somebody else has its name
)
