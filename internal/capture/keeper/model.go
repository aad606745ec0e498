package keeper

import "github.com/statecraft-dev/statecraft/internal/fsm"

// Perform is what an effect should do to the World.
func Perform(w World, e fsm.Effect) World {
	switch e.(type) {
	case DeleteKeeper:
		w.Gone = true
	}
	return w
}
