package request

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Keeping is what is known of a request's keeper. Only a live read says that it is Gone, or that Other has its name.
type Keeping struct {
	Sight presence.State `json:"sight,omitempty"`
	UID   types.UID      `json:"uid,omitempty"` // of the keeper, if it is ours
	// Namespace is the UID of the request's namespace: as the keeper says, and as it is read
	// while there is no keeper.
	Namespace types.UID `json:"namespace,omitempty"`
}
