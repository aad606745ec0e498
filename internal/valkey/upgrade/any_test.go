package upgrade

import (
	"math/rand/v2"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func anyUpgrade(_ *rand.Rand, _ fsm.Phase) (*valkeyv1.ValkeyUpgrade, World) {
	return newUpgrade(), running("8.1.1", 2, 2)
}

func safe(input, fsm.Step[*valkeyv1.ValkeyUpgrade]) error { return nil }
