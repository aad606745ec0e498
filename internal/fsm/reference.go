package fsm

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Reasons are those that the table itself gives, sorted: of what the kernel fires
// the event, and of the holds. A rule's own are constants of its package.
func (m *Machine[T, W]) Reasons() []Reason {
	said := map[Reason]bool{Reason(Created): true, Circling: true}
	if m.OneShot {
		said[Reason(Lost)] = true
	} else {
		said[Reason(Reset)] = true
	}
	m.Rules.reasons(said)
	if m.Lanes != nil {
		m.Lanes.reasons(said)
	}
	return slices.Sorted(maps.Keys(said))
}

func (r *Rules[I]) reasons(said map[Reason]bool) {
	for _, g := range r.Guards {
		said[Reason(g.On)] = true
	}
	for _, h := range r.Holds {
		said[h.Reason] = true
	}
	for _, rule := range r.Phases {
		if rule.Late != "" && rule.LateReason != Awaited {
			said[cmp.Or(rule.LateReason, Reason(rule.Late))] = true
		}
		for _, on := range rule.Fail {
			said[Reason(on)] = true
		}
	}
}

// ClassOf is the class of the phase that a move, of the object or of a lane, leads to.
func (m *Machine[T, W]) ClassOf(h Hop) Class {
	if h.Lane != "" {
		return m.Lanes.Phases[h.To].Class
	}
	return m.Phases[h.To].Class
}

// hashes remembers the hash of each machine by its address: every save asks for it,
// and a machine is built once.
var hashes sync.Map

// Hash names the table, so that a status tells which version wrote it.
func (m *Machine[T, W]) Hash() string {
	if hash, known := hashes.Load(m); known {
		return hash.(string)
	}
	hash, _ := hashes.LoadOrStore(m, m.hash())
	return hash.(string)
}

func (m *Machine[T, W]) hash() string {
	text := string(m.Start) + m.Table() + m.HoldTable()
	if m.Lanes != nil {
		text += join(m.Lanes.In) + string(m.Lanes.Start) + m.Lanes.Table() + m.Lanes.HoldTable()
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:8]
}

func join(phases []Phase) string {
	var words []string
	for _, p := range phases {
		words = append(words, string(p))
	}
	return strings.Join(words, ", ")
}
