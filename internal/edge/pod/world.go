package pod

import (
	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// World is what a pod may look at.
type World struct {
	// Looked says that its pool and its device were read. Without it the rest says nothing.
	Looked bool `json:"looked,omitempty"`
	// Blind says that Flight Control does not answer, which says nothing of any device.
	Blind  bool   `json:"blind,omitempty"`
	Device Device `json:"device,omitzero"`
	App    App    `json:"app,omitzero"`
	Wanted Wanted `json:"wanted,omitzero"`
	// PlaceTimeout is how long, in seconds, a device may take to apply the pod.
	PlaceTimeout int64 `json:"placeTimeout,omitempty"`

	Released bool `json:"released,omitempty"` // the pod's object is gone; only the model says so
	// Unpullable and Failing say what becomes of the application on the device, which only the model knows.
	Unpullable bool `json:"unpullable,omitempty"`
	Failing    bool `json:"failing,omitempty"`
}

// Device is the device of the pod's Node.
type Device struct {
	Name  string       `json:"name,omitempty"`
	State device.State `json:"state,omitempty"` // "" is not read
	// What the state allows, as in the table of package device.
	Believed bool `json:"believed,omitempty"`
	Edited   bool `json:"edited,omitempty"`
	Adds     bool `json:"adds,omitempty"`

	// Applied says that the agent has applied the version that was rendered last.
	Applied bool `json:"applied,omitempty"`
	// Newcomer is the application of another pod that was sent and has not run yet; "" is none. Replaces says that it has run
	// with another image.
	Newcomer string `json:"newcomer,omitempty"`
	Replaces bool   `json:"replaces,omitempty"`
	// NudgedAt is when a new version was last made of the spec for no other reason, in seconds.
	NudgedAt int64 `json:"nudgedAt,omitempty"`

	Owner      string `json:"owner,omitempty"`      // the fleet that captured it, as in Fleet/pumps
	LastSeen   string `json:"lastSeen,omitempty"`   // when it was last heard, as text
	Other      string `json:"other,omitempty"`      // another cluster that uses it
	Says       string `json:"says,omitempty"`       // what its agent says of the version that it applies
	Waits      bool   `json:"waits,omitempty"`      // the agent says that it puts off its updates
	GaveUp     bool   `json:"gaveUp,omitempty"`     // the agent has failed to apply the last version, and does not try it again
	Unrendered string `json:"unrendered,omitempty"` // why Flight Control cannot render its spec
}

// App is the pod's application.
type App struct {
	device.Look `json:",inline"`
	// Image is that in the device's spec, and RenderedImage that in what was rendered; "" is not read.
	Image         string `json:"image,omitempty"`
	RenderedImage string `json:"renderedImage,omitempty"`
	// Found says that the device reports it at all, by the last read; the rest is what it reports.
	Found    bool   `json:"found,omitempty"`
	Status   string `json:"status,omitempty"`
	Ready    int    `json:"ready,omitempty"`
	Of       int    `json:"of,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	// CannotPull says that the agent fails to pull the image.
	CannotPull bool `json:"cannotPull,omitempty"`
}

// Wanted is what the pod asks for. The application itself is built when it is sent: values of Secrets are in no World.
type Wanted struct {
	Name       string   `json:"name,omitempty"` // of the application
	Image      string   `json:"image,omitempty"`
	Containers int      `json:"containers,omitempty"`
	LeftOut    []string `json:"leftOut,omitempty"`
	Refused    []string `json:"refused,omitempty"`
	Missing    []string `json:"missing,omitempty"`
}

// Sent says that the device's spec has the application as the pod asks for it.
func (w World) Sent() bool { return w.App.InSpec && w.App.Image == w.Wanted.Image }

// complete says that all containers of the pod run, as far as the device reports. Of counts those that exist: one that is
// missing is not among them.
func (w World) complete() bool {
	a := w.App
	return a.Found && a.Status == fleet.AppRunning && a.Ready == a.Of && a.Of == w.Wanted.Containers
}

// runs says by evidence that the pod runs: the agent has applied the last version, which has the application as it was
// sent, and reports all of its containers. The report has no images: if the device can have another one under that name, what was
// rendered must have the right one.
func (w World) runs(known string) bool {
	rendered := w.App.RenderedImage == w.Wanted.Image || w.App.RenderedImage == "" && known == w.Wanted.Image
	return w.Device.Believed && w.Device.Applied && w.Sent() && w.complete() && rendered
}

// unheard says that what is known of the device is not of now.
func (w World) unheard() bool {
	return w.Device.State != "" && !w.Device.Believed && w.Device.State != device.Captured
}

func (w World) captured() bool { return w.Device.State == device.Captured }
