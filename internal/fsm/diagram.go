package fsm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Group is a box of the diagram around the phases of one flow, in their usual order. Groups nest or
// are disjoint. An event that leads from all phases of a group to one phase is drawn once, from the box.
type Group struct {
	Name   string
	Phases []Phase
}

// id is the name of the box inside of the diagram.
func (g Group) id() string { return strings.ReplaceAll(g.Name, " ", "") }

func (g Group) holds(p Phase) bool { return slices.Contains(g.Phases, p) }

// arrow is one line of a diagram, from a phase or a box to a phase, with every event that takes it.
type arrow struct {
	from   string
	to     Phase
	labels []string
}

// Diagram is the picture of the rules as Markdown, followed by the moves that it leaves out because
// they only begin a flow anew. The table has every move.
func (r *Rules[I]) Diagram() string {
	text := "```mermaid\n" + r.Mermaid() + "```\n"
	if left := r.leftOut(); len(left) > 0 {
		text += "\nNot drawn: " + strings.Join(left, "; ") + ".\n"
	}
	return text
}

// Mermaid draws the rules, so that the document cannot disagree with the code. Mermaid puts a phase
// into the box that names it last, so arrows between boxes follow all boxes.
func (r *Rules[I]) Mermaid() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stateDiagram-v2\n    [*] --> %s\n", r.Start)
	arrows := r.arrows()
	for _, g := range r.Groups {
		if _, nested := r.around(g); !nested {
			r.box(&b, g, arrows, "    ")
		}
	}
	for _, a := range arrows {
		if g, grouped := r.groupOf(Phase(a.from)); !grouped || !r.owns(g, a.to) {
			a.draw(&b, "    ")
		}
	}
	for _, phase := range r.flow() {
		if rule := r.Phases[phase]; rule.final() || r.vanishes(phase) {
			fmt.Fprintf(&b, "    %s --> [*]\n", phase)
		}
	}
	return b.String()
}

// box draws a group: the boxes in it, its own phases, and the arrows between those. Mermaid lets the
// arrows of a box begin at the phase that stands first, so the last of the flow does.
func (r *Rules[I]) box(b *strings.Builder, g Group, arrows []arrow, indent string) {
	fmt.Fprintf(b, "%sstate %q as %s {\n", indent, g.Name, g.id())
	var named []string // phases that need no line of their own, and boxes
	inside := slices.DeleteFunc(slices.Clone(arrows), func(a arrow) bool { return !r.owns(g, Phase(a.from)) || !r.owns(g, a.to) })
	for _, a := range inside {
		named = append(named, a.from, string(a.to))
	}
	if last := g.Phases[len(g.Phases)-1]; r.owns(g, last) {
		fmt.Fprintf(b, "%s    %s\n", indent, last)
		named = append(named, string(last))
	}
	for _, p := range g.Phases {
		inner, nested := r.childOf(g, p)
		switch {
		case nested && !slices.Contains(named, inner.id()):
			r.box(b, inner, arrows, indent+"    ")
			named = append(named, inner.id())
		case !nested && !slices.Contains(named, string(p)):
			fmt.Fprintf(b, "%s    %s\n", indent, p)
		}
	}
	for _, a := range inside {
		a.draw(b, indent+"    ")
	}
	fmt.Fprintf(b, "%s}\n", indent)
}

func (a arrow) draw(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s%s --> %s: %s\n", indent, a.from, a.to, strings.Join(a.labels, "<br/>"))
}

// groupOf is the narrowest group that a phase belongs to.
func (r *Rules[I]) groupOf(p Phase) (Group, bool) {
	return r.narrowest(func(g Group) bool { return g.holds(p) })
}

func (r *Rules[I]) owns(g Group, p Phase) bool {
	narrow, _ := r.groupOf(p)
	return narrow.Name == g.Name
}

// around is the narrowest group around another.
func (r *Rules[I]) around(inner Group) (Group, bool) {
	return r.narrowest(func(g Group) bool {
		return len(g.Phases) > len(inner.Phases) && g.holds(inner.Phases[0])
	})
}

// childOf is the box directly inside of g that a phase stands in, if any.
func (r *Rules[I]) childOf(g Group, p Phase) (Group, bool) {
	return r.narrowest(func(inner Group) bool {
		outer, nested := r.around(inner)
		return nested && outer.Name == g.Name && inner.holds(p)
	})
}

func (r *Rules[I]) narrowest(fits func(Group) bool) (narrow Group, found bool) {
	for _, g := range r.Groups {
		if fits(g) && (!found || len(g.Phases) < len(narrow.Phases)) {
			narrow, found = g, true
		}
	}
	return narrow, found
}

// flow lists the phases in the order of the groups, and then by how soon they can be reached: the
// layout keeps to the order of the text where it can.
func (r *Rules[I]) flow() (order []Phase) {
	add := func(phases ...Phase) {
		for _, p := range phases {
			if !slices.Contains(order, p) {
				order = append(order, p)
			}
		}
	}
	for _, g := range r.widest() {
		add(g.Phases...)
	}
	add(r.Start)
	for i := 0; i < len(order); i++ {
		on := r.Phases[order[i]].On
		for _, event := range slices.Sorted(maps.Keys(on)) {
			add(on[event])
		}
	}
	add(r.sorted()...)
	return order
}
