package node

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
)

// Known is what is known of one device that a pool has or had, and of its Node.
type Known struct {
	ID   ID
	Node *corev1.Node // nil if there is none
	// Pool is what its pool says, and Device what Flight Control says; the row of a device that was not read is zero.
	Pool   Pool
	Device Device
	// Announces says that the pool is served: all devices and all pods were read, and Flight Control answers.
	Announces bool
	// Drains says that the pool is to be deleted.
	Drains bool
	// Chosen says that the pool selects the device.
	Chosen bool
	// Bound says that pods are bound to the Node.
	Bound bool
}

// Wish is what the Node should be. Of a pool that is not served only Leases are kept: that Flight Control does not answer says
// nothing of any device.
func (k Known) Wish() Wish {
	wish, state := Wish{ID: k.ID}, k.Device.Row.State
	switch {
	case k.Drains:
		wish.Leaves, wish.Evicts = true, true
	case !k.Announces || state == "":
	case !k.Chosen && state != device.Gone, state == device.Gone && !k.Bound:
		wish.Leaves = true
	case k.Node == nil && (state == device.Captured || state == device.Gone): // no pod could run there
	default:
		wish.Node = Build(k.Pool, k.Device, k.ID)
	}
	return wish
}
