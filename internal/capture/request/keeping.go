package request

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Keeping is what is known of a request's keeper. Only a live read says that it is Gone, or that Other has its name.
type Keeping struct {
	Sight presence.State `json:"sight,omitempty"`
	UID   types.UID      `json:"uid,omitempty"` // of the keeper, if it is ours
	// Made is when the keeper was made, if it is ours.
	Made metav1.Time `json:"made,omitzero"`
	// Namespace is the UID of the request's namespace: as the keeper says, and as it is read
	// while there is no keeper.
	Namespace types.UID `json:"namespace,omitempty"`
}

// Lost says that there is no keeper of the request any more, or that another object has its name.
func (k Keeping) Lost() bool { return k.Sight == presence.Gone || k.Sight == presence.Other }

// LostMessage is what a request ends with that had begun and has no keeper: what it has made would be nobody's, and
// nothing but its status says that it was ever accepted.
const LostMessage = "The ObjectKeeper of the request does not exist, or is another's; make another request."
