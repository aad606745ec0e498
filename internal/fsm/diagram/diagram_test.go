package diagram

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func wait(int) fsm.Decision { return fsm.Wait("Waiting") }

// journey has two flows, Out and Home, between which one can turn, and a rest before them.
func journey() *fsm.Rules[int] {
	rule := func(on map[fsm.Event]fsm.Phase) fsm.Rule[int] {
		return fsm.Rule[int]{Doc: "d", Class: fsm.Working, Decide: wait, On: on}
	}
	return &fsm.Rules[int]{
		Start: "Rest",
		Groups: []fsm.Group{
			{Name: "On the way", Phases: []fsm.Phase{"Rest", "Pack", "Walk", "Turn", "Return"}},
			{Name: "Trip", Phases: []fsm.Phase{"Pack", "Walk", "Turn", "Return"}},
			{Name: "Out", Phases: []fsm.Phase{"Pack", "Walk"}},
			{Name: "Home", Phases: []fsm.Phase{"Turn", "Return"}},
		},
		Guards: []fsm.Guard[int]{
			{On: "Stolen", To: "Lost"},
			{On: "Rained", To: "Lost", In: []fsm.Phase{"Pack", "Walk", "Turn"}},
			{On: "Forgot", To: "Pack", In: []fsm.Phase{"Walk", "Turn"}},
			{On: "Called", To: "Rest", In: []fsm.Phase{"Pack", "Walk"}},
			{On: "Dusk", To: "Turn", In: []fsm.Phase{"Pack", "Walk", "Return"}},
		},
		Phases: map[fsm.Phase]fsm.Rule[int]{
			"Rest":   rule(map[fsm.Event]fsm.Phase{"Set": "Pack"}),
			"Pack":   rule(map[fsm.Event]fsm.Phase{"Packed": "Walk"}),
			"Walk":   rule(map[fsm.Event]fsm.Phase{"There": "Turn"}),
			"Turn":   rule(map[fsm.Event]fsm.Phase{"Turned": "Return"}),
			"Return": rule(map[fsm.Event]fsm.Phase{"Back": "Done", "Late": "Done"}),
			"Lost":   {Doc: "d", Class: fsm.Failed},
			"Done":   {Doc: "d", Class: fsm.Done},
		},
	}
}

// lamp has no groups, and ends with its object.
func lamp() *fsm.Rules[int] {
	return &fsm.Rules[int]{
		Start:  "Off",
		Guards: []fsm.Guard[int]{{On: "Deleted", To: "Gone", In: []fsm.Phase{"Off", "On"}}},
		Holds:  []fsm.Hold[int]{{Reason: "Paused", In: []fsm.Phase{"On"}}},
		Phases: map[fsm.Phase]fsm.Rule[int]{
			"Off":    {Doc: "d", Class: fsm.Steady, Decide: wait, On: map[fsm.Event]fsm.Phase{"Press": "On"}},
			"On":     {Doc: "d", Class: fsm.Working, Decide: wait, On: map[fsm.Event]fsm.Phase{"Press": "Off", "Blow": "Broken", "Burn": "Broken"}},
			"Broken": {Doc: "d", Class: fsm.Failed},
			"Gone":   {Doc: "d", Class: fsm.Working, Decide: wait},
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

const lampPage = "```mermaid" + `
stateDiagram-v2
    [*] --> Off
    Off --> On: Press
    Off --> Gone: Deleted
    On --> Gone: Deleted
    On --> Broken: Blow<br/>Burn
    On --> Off: Press
    Broken --> [*]
    Gone --> [*]
` + "```" + `

| phase | class | what happens | ways out | gives up | on an effect's error |
|---|---|---|---|---|---|
| Broken | Failed | d |  |  |  |
| Gone | Working | d |  |  |  |
| Off | Steady | d | Press → On, Deleted → Gone |  |  |
| On | Working | d | Blow → Broken, Burn → Broken, Press → Off, Deleted → Gone |  |  |

| hold | closes | ends by | deadlines |
|---|---|---|---|
| Paused | On |  | wait |
`

func TestDiagram(t *testing.T) {
	if diff := cmp.Diff(journeyDiagram, Of(journey().Chart())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(lampPage, reference(lamp())); diff != "" {
		t.Error(diff)
	}
}

// What is drawn and what is left out are together the moves of the table, no more and no fewer.
func TestDiagramsAreComplete(t *testing.T) {
	for name, r := range map[string]chart{"journey": {journey().Chart()}, "lamp": {lamp().Chart()}} {
		shown := map[fsm.Edge]bool{}
		for _, a := range r.arrows() {
			for _, label := range a.labels {
				on, except, _ := strings.Cut(label, " (not from ")
				for _, from := range r.ends(a.from, strings.TrimSuffix(except, ")")) {
					shown[fsm.Edge{From: from, On: fsm.Event(on), To: a.to}] = true
				}
			}
		}
		for _, m := range r.moves() {
			if g, restarts := r.restarts(m); restarts {
				for _, from := range slices.DeleteFunc(m.from, func(p fsm.Phase) bool { return !g.Holds(p) }) {
					shown[fsm.Edge{From: from, On: m.on, To: m.to}] = true
				}
			}
		}
		table := map[fsm.Edge]bool{}
		for _, e := range r.Edges {
			table[e] = true
		}
		if diff := cmp.Diff(table, shown); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// ends are the phases that an arrow leaves: one, or those of a box but for some.
func (r chart) ends(from, except string) (phases []fsm.Phase) {
	for _, g := range r.Groups {
		if g.ID() == from {
			return slices.DeleteFunc(slices.Clone(g.Phases), func(p fsm.Phase) bool {
				return slices.Contains(strings.Split(except, ", "), string(p))
			})
		}
	}
	return []fsm.Phase{fsm.Phase(from)}
}
