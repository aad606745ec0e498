package observe

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// Accepted remembers keepers that were made while the policies were in force, so by the manager. That stays true when the
// policies are weakened later, and is not asked again. Who is forgotten is asked for once more.
type Accepted struct{ keepers *lru.Cache }

// mostAccepted is how many are remembered: about as many as requests are under way at a time.
const mostAccepted = 4096

// NewAccepted remembers none yet.
func NewAccepted() *Accepted { return &Accepted{lru.New(mostAccepted)} }

func (a *Accepted) has(keeper types.UID) bool {
	if a == nil {
		return false
	}
	_, known := a.keepers.Get(keeper)
	return known
}

func (a *Accepted) add(keeper types.UID) {
	if a != nil && keeper != "" {
		a.keepers.Add(keeper, struct{}{})
	}
}
