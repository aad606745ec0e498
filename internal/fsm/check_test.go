package fsm

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, m := range []*table{machine(), chandelier(), match()} {
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
	}
	change := func(phase Phase, plant func(*Rule[in])) func(*table) {
		return func(m *table) {
			r := m.Phases[phase]
			plant(&r)
			m.Phases[phase] = r
		}
	}
	for want, plant := range map[string]func(*table){
		"Hidden is unreachable":                    change("Hidden", func(r *Rule[in]) { *r = Rule[in]{Doc: "d", Class: Done} }),
		`an edge names the unknown phase "B`:       func(m *table) { delete(m.Phases, "Broken") },
		`an edge names the unknown phase "S`:       func(m *table) { m.Start = "Shining" },
		`an edge names the unknown phase "G`:       func(m *table) { delete(m.Phases, "Gone") },
		"On lacks a Doc":                           change("On", func(r *Rule[in]) { r.Doc = "" }),
		"On lacks a Class that":                    change("On", func(r *Rule[in]) { r.Class = "Busy" }),
		"On has no way out by Smash":               change("On", func(r *Rule[in]) { r.Late = "Smash" }),
		"On has no way out by Drop":                change("On", func(r *Rule[in]) { r.Fail = map[ErrorClass]Event{Changed: "Drop"} }),
		`On fails by the unknown class "Odd"`:      change("On", func(r *Rule[in]) { r.Fail = map[ErrorClass]Event{"Odd": "Blow"} }),
		"On has one of a deadline and Late":        change("On", func(r *Rule[in]) { r.Within = 0 }),
		"Off has one of a deadline and Late":       change("Off", func(r *Rule[in]) { r.Within = time.Hour }),
		"Dim has two deadlines":                    change("Dim", func(r *Rule[in]) { r.Within = time.Hour }),
		"On is final and has a way out":            change("On", func(r *Rule[in]) { r.Decide = nil }),
		"Broken is final and neither":              change("Broken", func(r *Rule[in]) { r.Class = Working }),
		"Gone is Done and goes on":                 change("Gone", func(r *Rule[in]) { r.Decide = echo }),
		"On works and has no way out":              change("On", func(r *Rule[in]) { r.On, r.Fail, r.Within, r.Late = nil, nil, 0, "" }),
		"On –Two words→ Off: an event is":          change("On", func(r *Rule[in]) { r.On["Two words"] = "Off" }),
		"Very dim is not one word":                 change("Off", func(r *Rule[in]) { r.On["Fade"] = "Very dim" }),
		`a hold waits for "", which is not in the`: func(m *table) { m.Holds[0].Wake = "" },
		"hold on leave lacks a Reason of one":      func(m *table) { m.Holds[0].Reason = "on leave" },
		`a hold waits for "post"`:                  func(m *table) { m.Lanes.Holds[0].Wake = "post" },
		`wake "" lacks a name`:                     func(m *table) { m.Wakes = []Wake{{By: ByWatch}} },
		`wake "self" lacks a name of its own`:      func(m *table) { m.Wakes = []Wake{{Name: "self", By: ByWatch}} },
		`wake "a" lacks a name of its own`:         func(m *table) { m.Wakes = []Wake{{Name: "a", By: ByWatch}, {Name: "a", By: ByWorker}} },
		`wake "b" lacks a name of its own`:         func(m *table) { m.Wakes = []Wake{{Name: "b", By: "Magic"}} },
		"wake c may say nothing":                   func(m *table) { m.Wakes = []Wake{{Name: "c", By: ByReservation}} },
		"wake d may say nothing":                   func(m *table) { m.Wakes = []Wake{{Name: "d", By: ByTimer}} },
		"hold Paused names the unknown phase":      func(m *table) { m.Holds[0].In = []Phase{"Nowhere"} },
		"guard Deleted names the unknown phase":    func(m *table) { m.Guards[0].In = []Phase{"Nowhere"} },
		`group "" lacks phases`:                    func(m *table) { m.Groups = []Group{{Phases: []Phase{"On"}}} },
		`group "Lit" lacks phases`:                 func(m *table) { m.Groups = []Group{{Name: "Lit"}} },
		"group Off has the name of a phase":        func(m *table) { m.Groups = []Group{{"Off", []Phase{"On"}}} },
		"group Lit names the unknown phase":        func(m *table) { m.Groups = []Group{{"Lit", []Phase{"Nowhere"}}} },
		"groups Lit and Dark are neither nested":   func(m *table) { m.Groups = []Group{{"Lit", []Phase{"On", "Dim"}}, {"Dark", []Phase{"Off", "Dim"}}} },
		"groups Lit and Lit are neither nested":    func(m *table) { m.Groups = []Group{{"Lit", []Phase{"On"}}, {"Lit", []Phase{"Off"}}} },
		"groups Lit and Same are neither nested":   func(m *table) { m.Groups = []Group{{"Lit", []Phase{"On"}}, {"Same", []Phase{"On"}}} },
		"only a one-shot, says what Lost means":    func(m *table) { m.OneShot = true },
		"lanes in names the unknown phase":         func(m *table) { m.Lanes.In = []Phase{"Nowhere"} },
		"lanes say when they run":                  func(m *table) { m.Lanes.Want = nil },
		"Lamp: Dead is final and neither":          func(m *table) { m.Lanes.Phases["Dead"] = Rule[lane]{Doc: "d", Class: Degraded} },
		`Lamp: an edge names the unknown phase ""`: func(m *table) { m.Lanes.Start = "" },
	} {
		t.Run(want, func(t *testing.T) {
			m := chandelier()
			m.Phases["Very dim"] = Rule[in]{Doc: "d", Class: Done}
			if !strings.HasPrefix(want, "Very") {
				delete(m.Phases, "Very dim")
			}
			plant(m)
			if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

// An object that is being deleted works until it is gone: there is no way out.
func TestCheckLetsADeletedObjectVanish(t *testing.T) {
	m := machine()
	m.Phases["Gone"] = Rule[in]{Doc: "d", Class: Working, Decide: echo}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	if ends := m.Chart().Ends; !slices.Contains(ends, "Gone") {
		t.Error(ends)
	}
}
