package fsm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// journey has two flows, Out and Home, between which one can turn, and a rest before them.
func journey() *Rules[in] {
	rule := func(on map[Event]Phase) Rule[in] { return Rule[in]{Doc: "d", Class: Working, Decide: echo, On: on} }
	return &Rules[in]{
		Start: "Rest",
		Groups: []Group{
			{"On the way", []Phase{"Rest", "Pack", "Walk", "Turn", "Return"}},
			{"Trip", []Phase{"Pack", "Walk", "Turn", "Return"}},
			{"Out", []Phase{"Pack", "Walk"}},
			{"Home", []Phase{"Turn", "Return"}},
		},
		Guards: []Guard[in]{
			{On: "Stolen", To: "Lost"},
			{On: "Rained", To: "Lost", In: []Phase{"Pack", "Walk", "Turn"}},
			{On: "Forgot", To: "Pack", In: []Phase{"Walk", "Turn"}},
			{On: "Called", To: "Rest", In: []Phase{"Pack", "Walk"}},
			{On: "Dusk", To: "Turn", In: []Phase{"Pack", "Walk", "Return"}},
		},
		Phases: map[Phase]Rule[in]{
			"Rest":   rule(map[Event]Phase{"Set": "Pack"}),
			"Pack":   rule(map[Event]Phase{"Packed": "Walk"}),
			"Walk":   rule(map[Event]Phase{"There": "Turn"}),
			"Turn":   rule(map[Event]Phase{"Turned": "Return"}),
			"Return": rule(map[Event]Phase{"Back": "Done", "Late": "Done"}),
			"Lost":   {Doc: "d", Class: Failed},
			"Done":   {Doc: "d", Class: Done},
		},
	}
}

const journeyDiagram = "```mermaid" + `
stateDiagram-v2
    [*] --> Rest
    state "On the way" as Ontheway {
        Rest
        state "Trip" as Trip {
            state "Out" as Out {
                Walk
                Pack --> Walk: Packed
            }
            state "Home" as Home {
                Return
                Turn --> Return: Turned
            }
        }
    }
    Rest --> Pack: Set
    Walk --> Turn: There
    Return --> Done: Back<br/>Late
    Ontheway --> Lost: Stolen
    Trip --> Lost: Rained (not from Return)
    Done --> [*]
    Lost --> [*]
` + "```" + `

Not drawn: ` + "`Called` from Pack, Walk to Rest; `Dusk` from Trip to Turn; `Forgot` from Trip to Pack (not from Return).\n"

func TestDiagram(t *testing.T) {
	if errs := journey().check(); len(errs) > 0 {
		t.Fatal(errs)
	}
	if diff := cmp.Diff(journeyDiagram, journey().Diagram()); diff != "" {
		t.Error(diff)
	}
}

// What is drawn and what is left out are together the moves of the table, no more and no fewer.
func TestDiagramsAreComplete(t *testing.T) {
	for name, r := range map[string]*Rules[in]{"journey": journey(), "lamp": &machine().Rules} {
		shown := map[Edge]bool{}
		for _, a := range r.arrows() {
			for _, label := range a.labels {
				on, except, _ := strings.Cut(label, " (not from ")
				for _, from := range r.ends(a.from, strings.TrimSuffix(except, ")")) {
					shown[Edge{from, Event(on), a.to}] = true
				}
			}
		}
		for _, m := range r.moves() {
			if g, restarts := r.restarts(m); restarts {
				for _, from := range slices.DeleteFunc(m.from, func(p Phase) bool { return !g.holds(p) }) {
					shown[Edge{from, m.on, m.to}] = true
				}
			}
		}
		table := map[Edge]bool{}
		for _, e := range r.Edges() {
			table[e] = true
		}
		if diff := cmp.Diff(table, shown); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// ends are the phases that an arrow leaves: one, or those of a box but for some.
func (r *Rules[I]) ends(from, except string) (phases []Phase) {
	for _, g := range r.Groups {
		if g.id() == from {
			return slices.DeleteFunc(slices.Clone(g.Phases), func(p Phase) bool {
				return slices.Contains(strings.Split(except, ", "), string(p))
			})
		}
	}
	return []Phase{Phase(from)}
}
