package node

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
)

func TestWhatANodeShouldBe(t *testing.T) {
	there := &corev1.Node{}
	row := func(s device.State) Device { return Device{Row: device.Row{State: s}} }
	for what, c := range map[string]struct {
		known                 Known
		node, leaves, evicted bool
	}{
		"a device that is chosen":                  {known: Known{Announces: true, Chosen: true, Device: row(device.Connected)}, node: true},
		"one that is silent":                       {known: Known{Announces: true, Chosen: true, Device: row(device.Silent), Node: there}, node: true},
		"the pool is not served":                   {known: Known{Chosen: true, Device: row(device.Connected), Node: there}},
		"the device was not read":                  {known: Known{Announces: true, Chosen: true, Node: there}},
		"it is chosen no more":                     {known: Known{Announces: true, Device: row(device.Connected), Node: there}, leaves: true},
		"it is gone, and pods are bound":           {known: Known{Announces: true, Device: row(device.Gone), Node: there, Bound: true}, node: true},
		"it is gone, and no pod is bound":          {known: Known{Announces: true, Chosen: true, Device: row(device.Gone), Node: there}, leaves: true},
		"a fleet owns it, and it never had a Node": {known: Known{Announces: true, Chosen: true, Device: row(device.Captured)}},
		"a fleet has captured it":                  {known: Known{Announces: true, Chosen: true, Device: row(device.Captured), Node: there}, node: true},
		"the pool is to be deleted":                {known: Known{Announces: true, Chosen: true, Drains: true, Device: row(device.Connected), Node: there}, leaves: true, evicted: true},
		"and Flight Control does not answer":       {known: Known{Drains: true, Node: there}, leaves: true, evicted: true},
	} {
		w := c.known.Wish()
		if (w.Node != nil) != c.node || w.Leaves != c.leaves || w.Evicts != c.evicted {
			t.Errorf("%s: a Node %t, leaves %t, evicts %t", what, w.Node != nil, w.Leaves, w.Evicts)
		}
	}
}
