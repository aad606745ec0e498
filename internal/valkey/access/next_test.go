package access

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func secretsOf(operator, replication, application string) Secrets {
	s, err := ParseSecrets(files(operator, replication, "shop", application))
	if err != nil {
		panic(err)
	}
	return s
}

var (
	before = secretsOf("o1", "r1", "a1")
	during = secretsOf("o2\no1", "r2\nr1", "a2\na1")
	after  = secretsOf("o2", "r2", "a2")
)

// rounds is more than a change takes, with all that may come between.
const rounds = 30

// run carries a change out until there is nothing left to do, and returns what was done.
func (m *model) run(t *testing.T, between func(step int)) (story []string) {
	t.Helper()
	step := 0
	for range rounds {
		steps, doubt := Next(m.world())
		if len(steps) == 0 && doubt == "" {
			return story
		}
		for _, s := range steps {
			m.do(s)
			story = append(story, s.String())
			m.settle()
			between(step)
			step++
		}
		if len(steps) == 0 {
			m.settle()
			between(step)
			m.deliver()
			step++
		}
	}
	_, doubt := Next(m.world())
	t.Fatalf("it never ends: %s\n%s", doubt, strings.Join(story, "\n"))
	return nil
}

func (m *model) accounts() (all []map[string]Account) {
	for _, n := range m.nodes {
		all = append(all, n.Server.Accounts)
	}
	return all
}

func TestAChangeOfAllPasswords(t *testing.T) {
	m := newModel(before)
	m.secrets = during
	story := m.run(t, func(step int) {
		if who, locked := m.locked(during.Application[1].Hash()); locked {
			t.Errorf("after step %d %s", step, who)
		}
	})
	want := []string{}
	for i := range 4 {
		for _, user := range []string{Operator, Replication, "shop"} {
			want = append(want, fmt.Sprintf("add 1 password to user %s at %d", user, i))
		}
	}
	for i := range 4 {
		want = append(want, fmt.Sprintf("let %d log on to others as %s with its newest password", i, Replication))
	}
	want = append(want, "break link 1 of 2 to its primary")
	for i := range 4 {
		for _, user := range []string{Operator, Replication} {
			want = append(want, fmt.Sprintf("drop 1 password of user %s at %d", user, i))
		}
	}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m.secrets = after
	want = nil
	for i := range 4 {
		want = append(want, fmt.Sprintf("drop 1 password of user shop at %d", i))
	}
	if diff := cmp.Diff(want, m.run(t, func(int) {})); diff != "" {
		t.Errorf("the application's owner dropped the old one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(newModel(after).accounts(), m.accounts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A crash is that what was remembered is forgotten; a start is that a server has what its
// files hold, which may be those of before, of now, or of later. Each comes after each step.
func TestAChangeGoesOnAfterAnything(t *testing.T) {
	end := newModel(after)
	type event func(m *model)
	events := map[string]event{
		"nothing": func(*model) {},
		"a crash": func(m *model) { m.memory = nil },
	}
	for node := range 4 {
		for name, files := range map[string]Secrets{"before": before, "now": during, "later": after} {
			events[fmt.Sprintf("a start of %d with the files of %s", node, name)] = func(m *model) {
				m.nodes[node].start(files)
				m.settle()
			}
		}
		events[fmt.Sprintf("%d is silent for a while", node)] = func(m *model) {
			is := m.nodes[node].Server
			m.nodes[node].Server = nil
			if steps, doubt := Next(m.world()); len(steps) == 0 && doubt == "" {
				t.Error("a silent server is no doubt")
			} else if i := slices.IndexFunc(steps, func(s Step) bool { return s.At() == m.nodes[node].Name }); i >= 0 {
				t.Errorf("a silent server is told to %s", steps[i])
			}
			m.nodes[node].Server = is
		}
	}
	steps := len(changing().run(t, func(int) {}))
	for name, happen := range events {
		for at := range steps {
			m := changing()
			m.run(t, func(step int) {
				if step == at {
					happen(m)
				}
			})
			m.secrets = after
			m.run(t, func(int) {})
			if diff := cmp.Diff(end.accounts(), m.accounts()); diff != "" {
				t.Fatalf("%s after step %d (-want +got):\n%s", name, at, diff)
			}
			for _, n := range m.nodes {
				if n.Server.Replica && !n.Server.Linked || n.Server.PrimaryHash != after.Replication[0].Hash() {
					t.Fatalf("%s after step %d: %s is %+v", name, at, n.Name, n.Server)
				}
			}
		}
	}
}

// changing is in the middle of a change.
func changing() *model {
	m := newModel(before)
	m.secrets = during
	return m
}
