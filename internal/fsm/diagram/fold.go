package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// move is where an event leads, and from where.
type move struct {
	on   fsm.Event
	to   fsm.Phase
	from []fsm.Phase
}

// moves collects the edges by event and target, in the order of the flow.
func (r chart) moves() (moves []move) {
	for _, from := range r.flow() {
		for _, e := range r.Edges {
			if e.From != from {
				continue
			}
			same := func(m move) bool { return m.on == e.On && m.to == e.To }
			if i := slices.IndexFunc(moves, same); i >= 0 {
				moves[i].from = append(moves[i].from, from)
			} else {
				moves = append(moves, move{e.On, e.To, []fsm.Phase{from}})
			}
		}
	}
	return moves
}

// arrows are the lines of the picture: first from phases, in the order of the flow, then from boxes.
func (r chart) arrows() []arrow {
	var single, folded []arrow
	for _, m := range r.moves() {
		if flow, restarts := r.restarts(m); restarts {
			m.from = without(m.from, flow)
		}
		for _, g := range r.widest() {
			if words, whole := leaves(g, m); whole && !g.Holds(m.to) {
				folded = merge(folded, g.ID(), m.to, string(m.on)+words)
				m.from = without(m.from, g)
			}
		}
		for _, from := range m.from {
			single = merge(single, string(from), m.to, string(m.on))
		}
	}
	order := r.flow()
	slices.SortStableFunc(single, func(a, b arrow) int {
		return slices.Index(order, fsm.Phase(a.from)) - slices.Index(order, fsm.Phase(b.from))
	})
	return append(single, folded...)
}

// merge adds a label to the arrow between two, or adds that arrow.
func merge(arrows []arrow, from string, to fsm.Phase, label string) []arrow {
	for i := range arrows {
		if arrows[i].from == from && arrows[i].to == to {
			arrows[i].labels = append(arrows[i].labels, label)
			return arrows
		}
	}
	return append(arrows, arrow{from, to, []string{label}})
}

func without(phases []fsm.Phase, g fsm.Group) []fsm.Phase {
	return slices.DeleteFunc(slices.Clone(phases), g.Holds)
}

func join(phases []fsm.Phase) string {
	var words []string
	for _, p := range phases {
		words = append(words, string(p))
	}
	return strings.Join(words, ", ")
}

// leaves says whether a move leaves the phases of a group as a whole. Up to two phases may be
// excepted, in words, if at least twice as many take part.
func leaves(g fsm.Group, m move) (words string, whole bool) {
	var except []fsm.Phase
	part := 0
	for _, p := range g.Phases {
		switch {
		case slices.Contains(m.from, p):
			part++
		case p != m.to:
			except = append(except, p)
		}
	}
	if len(except) > 0 {
		words = fmt.Sprintf(" (not from %s)", join(except))
	}
	return words, part > 1 && len(except) <= 2 && 2*len(except) <= part
}

// restarts finds the flow that a move begins anew: it leads from several phases of a box to the first
// of that box. In a box that has only boxes, it may begin one from another: they are alternatives.
func (r chart) restarts(m move) (fsm.Group, bool) {
	g, grouped := r.groupOf(m.to)
	if !grouped || g.Phases[0] != m.to {
		return g, false
	}
	if outer, nested := r.around(g); nested && !slices.ContainsFunc(outer.Phases, func(p fsm.Phase) bool { return r.owns(outer, p) }) {
		g = outer
	}
	return g, len(m.from)-len(without(m.from, g)) > 1
}

// leftOut says which moves are not drawn.
func (r chart) leftOut() (lines []string) {
	for _, m := range r.moves() {
		g, restarts := r.restarts(m)
		if !restarts {
			continue
		}
		from, words := "from "+g.Name, ""
		if except, whole := leaves(g, m); whole {
			words = except
		} else {
			from = "from " + join(slices.DeleteFunc(slices.Clone(m.from), func(p fsm.Phase) bool { return !g.Holds(p) }))
		}
		lines = append(lines, fmt.Sprintf("`%s` %s to %s%s", m.on, from, m.to, words))
	}
	return lines
}

// widest are the groups, those with the most phases first.
func (r chart) widest() []fsm.Group {
	return slices.SortedStableFunc(slices.Values(r.Groups), func(a, b fsm.Group) int { return len(b.Phases) - len(a.Phases) })
}
