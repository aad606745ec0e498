package fsm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const chandelierTables = `| phase | class | what happens | ways out | gives up | on an effect's error |
|---|---|---|---|---|---|
| Broken | Failed | d |  |  |  |
| Dim | Degraded | d | Press → Off, Deleted → Gone | at a time set on entry: Press |  |
| Gone | Done | d |  |  |  |
| Off | Steady | d | Fade → Dim, Press → On, Deleted → Gone |  |  |
| On | Working | d | Blow → Broken, Burn → Broken, Press → Off, Deleted → Gone | after 1m: Burn | Refused: Blow |

| hold | closes | ends by | deadlines |
|---|---|---|---|
| Paused | On | self | wait |
| Closed | Off | self | run on |

| phase | class | what happens | ways out | gives up | on an effect's error |
|---|---|---|---|---|---|
| Cold | Working | d | Warm → Hot |  |  |
| Dead | Failed | d |  |  |  |
| Hot | Working | d | Blow → Dead, Burn → Dead, Cool → Cold | after 1m: Burn | Refused: Blow |

| hold | closes | ends by | deadlines |
|---|---|---|---|
| Shy | Hot | self | wait |
`

func TestTables(t *testing.T) {
	m := chandelier()
	if diff := cmp.Diff(chandelierTables, strings.Join([]string{m.Table(), m.HoldTable(), m.Lanes.Table(), m.Lanes.HoldTable()}, "\n")); diff != "" {
		t.Error(diff)
	}
	if got := (Edge{"On", "Press", "Off"}).String(); got != "On –Press→ Off" {
		t.Error(got)
	}
}

func TestReasons(t *testing.T) {
	want := []Reason{"Blow", "Burn", "Circling", "Closed", "Created", "Deleted", "Paused", "Press", "Reset", "Shy"}
	if diff := cmp.Diff(want, chandelier().Reasons()); diff != "" {
		t.Error(diff)
	}
	want = []Reason{"Blow", "Burn", "Circling", "Closed", "Created", "Deleted", "Paused", "Press", "StatusLost"}
	if diff := cmp.Diff(want, match().Reasons()); diff != "" {
		t.Error(diff)
	}
}

func TestHashSeesTheTable(t *testing.T) {
	was := chandelier().Hash()
	if len(was) != 8 || was != chandelier().Hash() {
		t.Fatal(was)
	}
	for what, change := range map[string]func(*table){
		"an edge":           func(m *table) { delete(m.Phases["On"].On, "Blow") },
		"the start":         func(m *table) { m.Start = "Dim" },
		"a deadline":        func(m *table) { r := m.Phases["On"]; r.Within = 90 * time.Minute; m.Phases["On"] = r },
		"what errors fire":  func(m *table) { m.Phases["On"].Fail[Changed] = "Blow" },
		"a hold":            func(m *table) { m.Holds[0].ClockRuns = true },
		"a guard":           func(m *table) { m.Guards[0].In = []Phase{"On"} },
		"an edge of a lane": func(m *table) { delete(m.Lanes.Phases["Hot"].On, "Cool") },
		"when lanes run":    func(m *table) { m.Lanes.In = []Phase{"On", "Off"} },
	} {
		m := chandelier()
		change(m)
		if m.Hash() == was {
			t.Errorf("the hash does not see %s", what)
		}
	}
}
