package explain

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Table is a machine without its type parameters and its decisions.
type Table struct {
	Kind    string
	Hash    string // as in status.machineHash
	OneShot bool
	Phases  map[fsm.Phase]Rule
	Lanes   map[fsm.Phase]Rule // of one lane; nil without lanes
	LanesIn []fsm.Phase        // the object's phases in which lanes run
}

// Rule is what a table says about one phase.
type Rule struct {
	Doc   string
	Class fsm.Class
	Final bool
	Ways  []fsm.Edge // out of it
	Late  fsm.Event  // that the deadline fires
}

// TableOf describes a machine.
func TableOf[T fsm.Subject[T], W any](m *fsm.Machine[T, W]) Table {
	t := Table{Kind: m.Kind, Hash: m.Hash(), OneShot: m.OneShot, Phases: rulesOf(&m.Rules)}
	if m.Lanes != nil {
		t.Lanes, t.LanesIn = rulesOf(&m.Lanes.Rules), m.Lanes.In
	}
	return t
}

func rulesOf[I any](rules *fsm.Rules[I]) map[fsm.Phase]Rule {
	all := map[fsm.Phase]Rule{}
	edges := rules.Edges()
	for phase, r := range rules.Phases {
		ways := slices.DeleteFunc(slices.Clone(edges), func(e fsm.Edge) bool { return e.From != phase })
		all[phase] = Rule{Doc: r.Doc, Class: r.Class, Final: r.Decide == nil, Ways: ways, Late: r.Late}
	}
	return all
}
