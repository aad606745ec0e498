// Package reserve is what a machine knows and does about the reservation of its target:
// the fact, the hold, the effects, and what wakes it. It is pure; package kube keeps the
// Leases.
package reserve

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Wake tells that a target may be free. A holder that ends or vanishes does not change the
// Lease, so no event tells of it: a machine that waits looks by itself.
var Wake = fsm.Wake{Name: "reservations", By: fsm.ByReservation, Every: 5 * time.Second}
