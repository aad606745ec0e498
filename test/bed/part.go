package bed

import (
	"context"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Part is something Start can add to a bed.
type Part struct {
	name string
	// built are the programs it needs, by their names in package parts.
	built []string
	// prepare runs before anything is started, the control plane included; it may be nil.
	prepare func(context.Context, *Bed) error
	// start brings it up and registers with the bed what Stop must undo.
	start func(context.Context, *Bed) error
}

// ControlPlane is etcd, the API server, the controller manager and the scheduler. Every bed has it, whether it
// is asked for or not. Alone it listens on loopback only, and several such beds run side by side.
var ControlPlane = Part{
	name:  "control plane",
	built: []string{parts.Kube, parts.Etcd},
	start: startControlPlane,
}

// Without leaves out controllers of the controller manager, by their names: each of them writes after whatever a
// test does, and the API server is what a test waits for.
func Without(controllers ...string) Part {
	return Part{
		name: "no controllers that nobody needs",
		prepare: func(_ context.Context, b *Bed) error {
			b.without = append(b.without, controllers...)
			return nil
		},
		start: func(context.Context, *Bed) error { return nil },
	}
}

// NodeGracePeriod is how long a node may be silent until it is not ready: of a bed 10 s, of Kubernetes itself 50. Who renews Leases of
// Nodes by a program that elects its leader needs more than an election takes.
func NodeGracePeriod(d time.Duration) Part {
	return Part{
		name: "another grace period of nodes",
		prepare: func(_ context.Context, b *Bed) error {
			b.nodeGrace = d
			return nil
		},
		start: func(context.Context, *Bed) error { return nil },
	}
}
