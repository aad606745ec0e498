package observe

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
)

// Connected is how many of the chosen devices are heard.
func (s Sweeper) Connected(of Sweep) (n int) {
	for name := range of.Chosen {
		if device.Of(s.Cluster, of.Devices[name]).Node == corev1.ConditionTrue {
			n++
		}
	}
	return n
}

// Same says that two sweeps are the same to a pool. What concerns pods alone is told by Changed.
func (s Sweeper) Same(a, b Sweep) bool {
	type facts struct {
		of, complete, blind bool
		access              pool.Access
		chosen, connected   int
		inventory           pool.Inventory
	}
	of := func(x Sweep) facts {
		return facts{
			of: x.UID == b.UID && x.Server == b.Server && reflect.DeepEqual(x.Selection, b.Selection), complete: x.Complete(), blind: x.Blind,
			access: x.Access, chosen: len(x.Chosen), connected: s.Connected(x), inventory: x.Inventory,
		}
	}
	return reflect.DeepEqual(of(a), of(b)) && maps.Equal(a.Pods, b.Pods)
}

// Changed are the devices whose pods may decide otherwise by the second sweep than by the first.
func Changed(was, is Sweep) (names []string) {
	for _, some := range []Sweep{was, is} {
		for name := range some.Devices {
			if !slices.Contains(names, name) && (was.Blind != is.Blind || !sameDevice(was.Devices[name], is.Devices[name])) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// sameDevice compares what is looked at. Each report of an agent is another version of its device.
func sameDevice(a, b device.Seen) bool {
	a.Device.ResourceVersion, b.Device.ResourceVersion = "", ""
	return reflect.DeepEqual(a, b)
}
