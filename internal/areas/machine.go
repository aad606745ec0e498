package areas

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/internal/explain"
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

	// Table is the machine as explanations use it.
	Table explain.Table
	// Shows are fields of an object that tell how it is, each with the word for it.
	Shows []explain.Shown
	// Parts is where the object's lanes are stored, if it has any.
	Parts explain.Parts
	// Label is the one that children bear, with the name of the object as its value; empty if
	// they are known by their owner alone.
	Label string
	// Details are what the area itself says about an object; nil if it says no more than all do.
	Details func(*unstructured.Unstructured, time.Time) ([]explain.Section, error)
	// Named is what objects of the same kind say about one that they name; the zero value is nothing.
	Named Named
}

// Named is how objects of a kind name another one of it, by its UID in the field In, and what these say about that one.
type Named struct {
	In  []string
	Say func([]unstructured.Unstructured) (explain.Section, error)
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
	described := Machine{Kind: m.Kind, Drawing: drawing[T, W]{m}, Folders: folders, Table: explain.TableOf(m)}
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

// showing names fields of an object, each behind the word for it.
func (m Machine) showing(words ...string) Machine {
	for i := 0; i+1 < len(words); i += 2 {
		m.Shows = append(m.Shows, explain.Shown{Name: words[i], Field: words[i+1]})
	}
	return m
}

// labelling says which label children bear, with the name of the object.
func (m Machine) labelling(label string) Machine {
	m.Label = label
	return m
}

// inParts says in which list of the status lanes are stored, which field names them, and what one is called.
func (m Machine) inParts(list, key, word string) Machine {
	m.Parts = explain.Parts{List: list, Key: key, Word: word}
	return m
}

// detailing says what the area itself says about an object.
func (m Machine) detailing(details func(*unstructured.Unstructured, time.Time) ([]explain.Section, error)) Machine {
	m.Details = details
	return m
}

// naming says by which field objects of the kind name another one, and what they say about that one.
func (m Machine) naming(in []string, say func([]unstructured.Unstructured) (explain.Section, error)) Machine {
	m.Named = Named{In: in, Say: say}
	return m
}
