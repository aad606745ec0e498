package device

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// Look is what was read of one application: of the device, and of what was rendered of it.
type Look struct {
	// InSpec says that the device's spec has it.
	InSpec bool `json:"inSpec,omitempty"`
	// Rendered says that what was rendered was read as well, live as the device itself; without it the application may run.
	Rendered bool `json:"rendered,omitempty"`
	// The rest is of what was rendered: one row of the server's database, and so one moment.
	InRendered bool `json:"inRendered,omitempty"`
	Reported   bool `json:"reported,omitempty"`
	// RenderedVersion and ReportedVersion are what the server rendered last, and the agent applied last.
	RenderedVersion string `json:"renderedVersion,omitempty"`
	ReportedVersion string `json:"reportedVersion,omitempty"`
	// Mark is our last mark of the spec, and RenderedMark that of what was rendered.
	Mark         string `json:"mark,omitempty"`
	RenderedMark string `json:"renderedMark,omitempty"`
	// Stale says that what was rendered has other applications than the spec: it is of an older one.
	Stale bool `json:"stale,omitempty"`
	// Restored says that the server was restored from a backup: what it knows of the agent may be older than the application.
	Restored bool `json:"restored,omitempty"`
}

// LookFor looks for an application on a device, as both were read live; rendered is nil if that could not be read.
func LookFor(c entry.Cluster, live fleet.Device, rendered *fleet.Rendered, name string) Look {
	l := Look{InSpec: fleet.Has(live.Applications, name), Mark: MarkOf(c, live.Config)}
	if rendered == nil || rendered.Name != live.Name {
		return l
	}
	l.Rendered = true
	l.InRendered = fleet.Has(rendered.Applications, name)
	_, l.Reported = rendered.Status.Reported(name)
	l.Stale = !sameNames(live.Applications, rendered.Applications)
	l.RenderedMark = MarkOf(c, rendered.Config)
	l.RenderedVersion, l.ReportedVersion = rendered.RenderedVersion, rendered.Status.ReportedVersion
	for _, d := range []fleet.Device{live, fleet.Device(*rendered)} {
		l.Restored = l.Restored || d.AwaitingReconnect || d.Status.Summary.Status == fleet.AwaitingReconnect
	}
	return l
}

// sameNames says that two specs have the same applications, as far as names tell.
func sameNames(a, b []fleet.Entry) bool {
	names := func(entries []fleet.Entry) (all []string) {
		for _, e := range entries {
			all = append(all, e.Name)
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(names(a), names(b))
}

// Doubt is why an application may still run; "" is that it is gone.
type Doubt string

// The doubts, in the order in which they are settled.
const (
	StillInSpec     Doubt = "StillInSpec"     // the device's spec has it
	NotLooked       Doubt = "NotLooked"       // what was rendered was not read
	SinceRestore    Doubt = "SinceRestore"    // the device was not heard since the server was restored
	StillInRendered Doubt = "StillInRendered" // the server has not rendered the spec without it, or has rendered an older one since
	NotRendered     Doubt = "NotRendered"     // what was rendered is of an older spec, by its applications or by our mark
	NotApplied      Doubt = "NotApplied"      // the agent has not applied what was rendered
	StillReported   Doubt = "StillReported"   // the agent reports it
)

// Gone says whether an application is gone from its device: the agent says that it has applied a version without it, and
// reports none of it. Each of these alone has been seen while its container ran: an agent that returns reports no application at
// first; a spec is rendered later than it is edited, and an older one may be rendered after it; and a version that fails is rolled back, which starts it again.
func (l Look) Gone() (evidence string, doubt Doubt) {
	switch {
	case l.InSpec:
		return "", StillInSpec
	case !l.Rendered:
		return "", NotLooked
	case l.Restored:
		return "", SinceRestore
	case l.InRendered:
		return "", StillInRendered
	case l.Stale || l.Mark != l.RenderedMark:
		return "", NotRendered
	case !applied(l.RenderedVersion, l.ReportedVersion):
		return "", NotApplied
	case l.Reported:
		return "", StillReported
	}
	return fmt.Sprintf("the device has applied version %s, which is without it, and reports it no more", l.ReportedVersion), ""
}
