package access

import (
	"fmt"
	"strings"
	"testing"
)

// TestNext asks about one thing at a time, in a cluster that is otherwise ready to drop
// the old passwords.
func TestNext(t *testing.T) {
	newest := during.Replication[0].Hash()
	for name, c := range map[string]struct {
		change func(m *model)
		steps  []string // what is done first; the rest is not looked at
		doubt  string
	}{
		"nobody was seen":      {change: func(m *model) { m.nodes = nil }, doubt: "no server was seen"},
		"no password was seen": {change: func(m *model) { m.secrets = Secrets{} }, doubt: "no passwords were seen"},
		"a link is broken first": {change: func(*model) {},
			steps: []string{"break link 1 of 2 to its primary"}},
		"the link that was to be broken still stands": {change: func(m *model) { m.memory = &Reconnection{"3", "1", newest} },
			steps: []string{"break link 1 of 3 to its primary"}},
		"the link is back": {change: func(m *model) { m.memory = &Reconnection{"2", "0", newest} },
			steps: []string{"drop 1 password of user " + Operator + " at 0"}},
		"the link is not back": {change: func(m *model) {
			m.memory = &Reconnection{"2", "1", newest}
			m.nodes[2].Server.Linked, m.nodes[2].Server.Connection = false, ""
		}, doubt: "2 has not come back to its primary since its link was broken to try the new password"},
		"the link is copying": {change: func(m *model) {
			m.memory = &Reconnection{"2", "1", newest}
			m.nodes[2].Server.Linked, m.nodes[2].Server.Connection = false, "2"
		}, doubt: "2 has not come back to its primary since its link was broken to try the new password"},
		"what was remembered is of another password": {change: func(m *model) { m.memory = &Reconnection{"2", "0", "else"} },
			steps: []string{"break link 1 of 2 to its primary"}},
		"whose link was broken is a primary by now": {change: func(m *model) {
			m.memory = &Reconnection{"2", "1", newest}
			m.nodes[2].Server.Replica, m.nodes[2].Server.Linked, m.nodes[2].Server.Connection = false, false, ""
		}, steps: []string{"break link 1 of 3 to its primary"}},
		"whose link was broken is gone": {change: func(m *model) { m.memory = &Reconnection{"7", "1", newest} },
			steps: []string{"break link 1 of 2 to its primary"}},
		"the first replica has no link": {change: func(m *model) { m.nodes[2].Server.Linked = false },
			steps: []string{"break link 1 of 3 to its primary"}},
		"no replica has a link": {change: func(m *model) { m.nodes[2].Server.Linked, m.nodes[3].Server.Linked = false, false },
			doubt: "no replica has a link to its primary on which to try the new password"},
		"files are older": {change: func(m *model) { m.nodes[1].Server.Files = before.Newest() }, doubt: "the new passwords to reach the files of 1"},
		"files are not known, and only the application's is to be dropped": {change: func(m *model) {
			m.secrets = after
			for _, n := range m.nodes {
				n.start(secretsOf("o2", "r2", "a2\na1"))
				n.Server.Files = ""
			}
			m.settle()
		}, steps: []string{"drop 1 password of user shop at 0"}},
		"there are no replicas": {change: func(m *model) { m.nodes[2].Server.Replica, m.nodes[3].Server.Replica = false, false },
			steps: []string{"drop 1 password of user " + Operator + " at 0"}},
		"only the operator's is to be dropped": {change: func(m *model) {
			for _, n := range m.nodes {
				n.Server.Accounts[Replication] = Account{On: true, Passwords: []Hash{newest}}
			}
		}, steps: []string{"drop 1 password of user " + Operator + " at 0"}},
		"one is silent": {change: func(m *model) { m.nodes[1].Server = nil }, doubt: "1 does not say who may log on to it"},
		"one is silent, another lacks a password": {change: func(m *model) {
			m.nodes[1].Server = nil
			m.nodes[3].Server.Accounts["shop"] = Account{On: true, Passwords: hashes(before.Application)}
		}, steps: []string{"add 1 password to user shop at 3"}},
		"one shows the old password to its primary": {change: func(m *model) { m.nodes[3].Server.PrimaryHash = before.Replication[0].Hash() },
			steps: []string{"let 3 log on to others as " + Replication + " with its newest password"}},
		"one shows another name to its primary": {change: func(m *model) { m.nodes[3].Server.PrimaryUser = "else" },
			steps: []string{"let 3 log on to others as " + Replication + " with its newest password"}},
		"a user is missing": {change: func(m *model) { delete(m.nodes[0].Server.Accounts, "shop") },
			steps: []string{"give user shop its rights at 0"}},
		"a user is off": {change: func(m *model) { m.nodes[0].Server.Accounts["shop"] = Account{Passwords: hashes(during.Application)} },
			steps: []string{"give user shop its rights at 0"}},
		"a user needs no password": {change: func(m *model) {
			m.nodes[0].Server.Accounts["shop"] = Account{On: true, Open: true, Passwords: hashes(during.Application)}
		}, steps: []string{"give user shop its rights at 0"}},
		"rights are askew": {change: func(m *model) { m.nodes[3].Askew = []string{Replication} },
			steps: []string{"give user " + Replication + " its rights at 3"}},
		"there is a stranger": {change: func(m *model) {
			m.memory = &Reconnection{"2", "0", newest}
			m.secrets = after
			for _, n := range m.nodes {
				n.start(after)
			}
			m.settle()
			m.nodes[1].Server.Accounts["evil"] = Account{On: true}
			m.nodes[1].Server.Accounts["else"] = Account{On: true}
		}, steps: []string{"remove users else, evil at 1"}},
		"there is a stranger, and nobody knows the application": {change: func(m *model) {
			m.secrets = after
			m.secrets.ApplicationName, m.secrets.Application = "", nil
			for _, n := range m.nodes {
				n.start(after)
			}
			m.settle()
		}},
		"the default user is on": {change: func(m *model) {
			m.memory = &Reconnection{"2", "0", newest}
			m.nodes[0].Server.Accounts[Default] = Account{On: true, Open: true}
		}, steps: []string{"turn user default off at 0"}},
		"the default user is on, and links may be its": {change: func(m *model) {
			m.secrets = after
			for _, n := range m.nodes {
				n.start(after)
			}
			m.settle()
			m.nodes[0].Server.Accounts[Default] = Account{On: true, Open: true}
		}, steps: []string{"break link 2 of 2 to its primary"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(before)
			for _, n := range m.nodes {
				n.start(during)
			}
			m.secrets = during
			for _, n := range m.nodes {
				n.session = 0
			}
			m.settle()
			c.change(m)
			steps, doubt := Next(m.world())
			if doubt != c.doubt {
				t.Errorf("doubt %q", doubt)
			}
			if len(steps) < len(c.steps) || c.steps == nil && len(steps) > 0 {
				t.Fatalf("steps %v", steps)
			}
			for i, want := range c.steps {
				if steps[i].String() != want {
					t.Errorf("steps %v", steps)
				}
			}
		})
	}
}

// Steps are shown in events and logs.
func TestStepsDoNotShowPasswords(t *testing.T) {
	m := changing()
	for range rounds {
		steps, _ := Next(m.world())
		shown := fmt.Sprintf("%v %+v %#v %s", steps, steps, steps, fmt.Sprint(m.world()))
		for _, secret := range []string{`"o1"`, `"r1"`, `"r2"`, "{r2}", "{r1}", " r2", " r1"} {
			if strings.Contains(shown, secret) {
				t.Fatalf("%s is in %s", secret, shown)
			}
		}
		for _, s := range steps {
			m.do(s)
			m.settle()
		}
	}
}
