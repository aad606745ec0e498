package areas

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/diagram"
)

// Machine is one kind's machine, without its type parameters.
type Machine struct {
	Kind    string
	Drawing Drawing
	Lanes   string   // the diagram of one lane, if there are any
	Folders []string // where its phases, reasons and events are declared
	// Shared is the folder of the api that declares reasons which several kinds give, and Mentions
	// are the files besides Folders in which this kind mentions those that it gives.
	Shared   string
	Mentions []string
}

// Drawing is what a machine says about itself.
type Drawing interface {
	Reference() string
	Diagram() string
	Reasons() []fsm.Reason
}

type drawing[T fsm.Subject[T], W any] struct{ *fsm.Machine[T, W] }

// Reference implements Drawing.
func (d drawing[T, W]) Reference() string { return diagram.Reference(d.Machine) }

// Diagram implements Drawing.
func (d drawing[T, W]) Diagram() string { return diagram.Of(d.Chart()) }

// machine describes a machine: m, and the folders that declare its constants.
func machine[T fsm.Subject[T], W any](m *fsm.Machine[T, W], folders ...string) Machine {
	described := Machine{Kind: m.Kind, Drawing: drawing[T, W]{m}, Folders: folders}
	if m.Lanes != nil {
		described.Lanes = diagram.Of(m.Lanes.Chart())
	}
	return described
}

// sharing says that the kind gives reasons that are declared in the folder shared, namely those
// that its folders and these files mention.
func (m Machine) sharing(shared string, files ...string) Machine { //nolint:unparam // other areas have folders of their own
	m.Shared, m.Mentions = shared, files
	return m
}
