package fsm

import (
	"fmt"
	"slices"
)

// move is where an event leads, and from where.
type move struct {
	on   Event
	to   Phase
	from []Phase
}

// moves collects the edges by event and target, in the order of the flow.
func (r *Rules[I]) moves() (moves []move) {
	edges := r.Edges()
	for _, from := range r.flow() {
		for _, e := range edges {
			if e.From != from {
				continue
			}
			same := func(m move) bool { return m.on == e.On && m.to == e.To }
			if i := slices.IndexFunc(moves, same); i >= 0 {
				moves[i].from = append(moves[i].from, from)
			} else {
				moves = append(moves, move{e.On, e.To, []Phase{from}})
			}
		}
	}
	return moves
}

// arrows are the lines of the picture: first from phases, in the order of the flow, then from boxes.
func (r *Rules[I]) arrows() []arrow {
	var single, folded []arrow
	for _, m := range r.moves() {
		if flow, restarts := r.restarts(m); restarts {
			m.from = without(m.from, flow)
		}
		for _, g := range r.widest() {
			if words, whole := g.leaves(m); whole && !g.holds(m.to) {
				folded = merge(folded, g.id(), m.to, string(m.on)+words)
				m.from = without(m.from, g)
			}
		}
		for _, from := range m.from {
			single = merge(single, string(from), m.to, string(m.on))
		}
	}
	order := r.flow()
	slices.SortStableFunc(single, func(a, b arrow) int {
		return slices.Index(order, Phase(a.from)) - slices.Index(order, Phase(b.from))
	})
	return append(single, folded...)
}

// merge adds a label to the arrow between two, or adds that arrow.
func merge(arrows []arrow, from string, to Phase, label string) []arrow {
	for i := range arrows {
		if arrows[i].from == from && arrows[i].to == to {
			arrows[i].labels = append(arrows[i].labels, label)
			return arrows
		}
	}
	return append(arrows, arrow{from, to, []string{label}})
}

func without(phases []Phase, g Group) []Phase {
	return slices.DeleteFunc(slices.Clone(phases), g.holds)
}

// leaves says whether a move leaves the phases of a group as a whole. Up to two phases may be
// excepted, in words, if at least twice as many take part.
func (g Group) leaves(m move) (words string, whole bool) {
	var except []Phase
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
func (r *Rules[I]) restarts(m move) (Group, bool) {
	g, grouped := r.groupOf(m.to)
	if !grouped || g.Phases[0] != m.to {
		return g, false
	}
	if outer, nested := r.around(g); nested && !slices.ContainsFunc(outer.Phases, func(p Phase) bool { return r.owns(outer, p) }) {
		g = outer
	}
	return g, len(m.from)-len(without(m.from, g)) > 1
}

// leftOut says which moves are not drawn.
func (r *Rules[I]) leftOut() (lines []string) {
	for _, m := range r.moves() {
		g, restarts := r.restarts(m)
		if !restarts {
			continue
		}
		from, words := "from "+g.Name, ""
		if except, whole := g.leaves(m); whole {
			words = except
		} else {
			from = "from " + join(slices.DeleteFunc(slices.Clone(m.from), func(p Phase) bool { return !g.holds(p) }))
		}
		lines = append(lines, fmt.Sprintf("`%s` %s to %s%s", m.on, from, m.to, words))
	}
	return lines
}

// widest are the groups, those with the most phases first.
func (r *Rules[I]) widest() []Group {
	return slices.SortedStableFunc(slices.Values(r.Groups), func(a, b Group) int { return len(b.Phases) - len(a.Phases) })
}

// checkGroups says what a diagram could not draw.
func (r *Rules[I]) checkGroups() (errs []error) {
	for i, g := range r.Groups {
		if len(g.Phases) == 0 || !name.MatchString(g.id()) {
			errs = append(errs, fmt.Errorf("group %q lacks phases, or a name of words", g.Name))
		}
		if _, taken := r.Phases[Phase(g.id())]; taken {
			errs = append(errs, fmt.Errorf("group %s has the name of a phase", g.Name))
		}
		errs = append(errs, r.unknown("group "+g.Name, g.Phases)...)
		for _, other := range r.Groups[:i] {
			shared := len(g.Phases) - len(without(g.Phases, other))
			nested := len(g.Phases) != len(other.Phases) && shared == min(len(g.Phases), len(other.Phases))
			if other.id() == g.id() || shared > 0 && !nested {
				errs = append(errs, fmt.Errorf("groups %s and %s are neither nested nor apart", other.Name, g.Name))
			}
		}
	}
	return errs
}
