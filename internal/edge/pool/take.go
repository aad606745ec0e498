package pool

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// Inventory is what this cluster has on the devices of a pool.
type Inventory struct {
	Entries int
	Orphans []Orphan
	Unasked []string
	Marked  []string
}

// TakeInventory compares both sides, each of which was read completely: the devices of the pool, and all pods of the cluster, with
// the device of each. An application on another device than its pod is an orphan as well: it would be a second copy. was
// are the orphans of the inventory before, which must be of a sweep ago: what was none then is looked at for the first time.
func TakeInventory(c entry.Cluster, devices []fleet.Device, pods map[types.UID]string, was []Orphan, now time.Time) Inventory {
	var out Inventory
	for _, d := range devices {
		names := entriesOf(c, d)
		out.Entries += len(names)
		for _, name := range names {
			uid, _ := c.Pod(name)
			if of, is := pods[uid]; !is || of != d.Name {
				out.Orphans = append(out.Orphans, orphan(was, d.Name, name, now))
			}
		}
		if runsUnasked(c, d, pods) {
			out.Unasked = append(out.Unasked, d.Name)
		}
		if len(names) == 0 && fleet.Has(d.Config, c.Nudge()) {
			out.Marked = append(out.Marked, d.Name)
		}
	}
	slices.SortFunc(out.Orphans, func(a, b Orphan) int { return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Name, b.Name)) })
	slices.Sort(out.Unasked)
	slices.Sort(out.Marked)
	return out
}

// runsUnasked says that a device runs an application that neither its spec nor a pod of it asks for. One that was taken out of the spec a
// moment ago is not rendered yet; while it has a pod, that pod makes the device try again.
func runsUnasked(c entry.Cluster, d fleet.Device, pods map[types.UID]string) bool {
	return slices.ContainsFunc(device.Unasked(c, d), func(name string) bool {
		uid, _ := c.Pod(name)
		return pods[uid] != d.Name
	})
}

// entriesOf are the entries of pods on a device. An application and its files have one name.
func entriesOf(c entry.Cluster, d fleet.Device) (names []string) {
	for _, e := range slices.Concat(d.Applications, d.Config) {
		if _, is := c.Pod(e.Name); is && !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

func orphan(was []Orphan, device, name string, now time.Time) Orphan {
	for _, o := range was {
		if o.Device == device && o.Name == name {
			o.Looks++
			return o
		}
	}
	return Orphan{Device: device, Name: name, Looks: 1, Since: now.Unix()}
}
