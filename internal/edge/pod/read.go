package pod

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
)

// Reading is all that was read about a pod.
type Reading struct {
	Cluster entry.Cluster
	Pod     *corev1.Pod
	// Device is that of the pod's Node, as Flight Control says.
	Device device.Seen
	// Rendered is what was rendered of it, read live after the device itself; nil if it was not read.
	Rendered *fleet.Rendered
	// Others are the pods of the device, with how far they are.
	Others []*Pod
	// LastSeen is when a device that is not heard was heard last; zero is not known.
	LastSeen time.Time
	// Blind says that Flight Control does not answer.
	Blind        bool
	Conversion   spec.Conversion
	PlaceTimeout time.Duration
}

// World is what a reading says.
func (r Reading) World() World {
	name, d := r.Cluster.Of(r.Pod.UID), r.Device.Device
	w := World{
		Looked: true, Blind: r.Blind, PlaceTimeout: int64(r.PlaceTimeout / time.Second),
		Wanted: Wanted{
			Name: name, Containers: len(r.Pod.Spec.Containers),
			LeftOut: r.Conversion.LeftOut, Refused: r.Conversion.Refused, Missing: r.Conversion.Missing,
		},
	}
	if len(r.Pod.Spec.Containers) > 0 {
		w.Wanted.Image = r.Pod.Spec.Containers[0].Image
	}
	if r.Blind {
		return w
	}
	w.Device = r.device()
	w.App = App{Look: device.LookFor(r.Cluster, d, r.Rendered, name), CannotPull: device.CannotPull(d, w.Wanted.Image)}
	w.App.Image = imageIn(d.Applications, name)
	if r.Rendered != nil {
		w.App.RenderedImage = imageIn(r.Rendered.Applications, name)
	}
	if a, is := d.Status.Reported(name); is {
		w.App.Found, w.App.Status, w.App.Ready, w.App.Of, w.App.Restarts = true, a.Status, a.Ready, a.Of, a.Restarts
	}
	return w
}

func (r Reading) device() Device {
	row, d := device.Of(r.Cluster, r.Device), r.Device.Device
	out := Device{
		Name: d.Name, State: row.State, Believed: row.Believed, Edited: row.Edited, Adds: row.Adds,
		Applied: d.RenderedVersion != "" && d.RenderedVersion == d.Status.ReportedVersion, NudgedAt: nudgedAt(r.Cluster, d),
		Owner: d.Owner, Says: device.Says(d), Unrendered: device.Unrendered(d), GaveUp: device.GaveUp(d),
	}
	_, out.Waits = device.Waits(d)
	if other, is := device.Others(r.Cluster, d); is {
		out.Other = string(other)
	}
	if !r.LastSeen.IsZero() {
		out.LastSeen = r.LastSeen.UTC().Format("2006-01-02 15:04:05Z")
	}
	out.Newcomer, out.Replaces = newcomer(r.Cluster, d, r.Pod.UID, r.Others)
	return out
}

func imageIn(entries []fleet.Entry, name string) string {
	e, _ := fleet.Find(entries, name)
	image, _ := spec.ImageOf(e.Raw)
	return image
}

// nudgedAt reads when a device was marked last.
func nudgedAt(c entry.Cluster, d fleet.Device) int64 {
	first, _, _ := strings.Cut(strings.TrimSpace(device.MarkOf(c, d.Config)), " ")
	at, err := strconv.ParseInt(first, 10, 64)
	if err != nil || at < 0 {
		return 0
	}
	return at
}

// newcomer is the application of a pod of the device, other than this one, that is in its spec and has not run there yet, as far as is
// known; replaces says that it has run with another image, which the device reports under the same name.
func newcomer(c entry.Cluster, d fleet.Device, this types.UID, pods []*Pod) (name string, replaces bool) {
	for _, p := range pods {
		name, ran := c.Of(p.UID), p.ran()
		image := imageIn(d.Applications, name)
		if p.UID != this && image != "" && image != ran {
			return name, ran != "" || p.known() == ""
		}
	}
	return "", false
}
