// Package diagram draws machines for their pages. The kernel knows nothing of it.
package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// arrow is one line of a diagram, from a phase or a box to a phase, with every event that takes it.
type arrow struct {
	from   string
	to     fsm.Phase
	labels []string
}

// chart is what is drawn.
type chart struct{ fsm.Chart }

// Of is the picture of a table as Markdown, followed by the moves that it leaves out because
// they only begin a flow anew. The table has every move.
func Of(c fsm.Chart) string {
	r := chart{c}
	text := "```mermaid\n" + r.mermaid() + "```\n"
	if left := r.leftOut(); len(left) > 0 {
		text += "\nNot drawn: " + strings.Join(left, "; ") + ".\n"
	}
	return text
}

// mermaid draws the table, so that the document cannot disagree with the code. Mermaid puts a phase
// into the box that names it last, so arrows between boxes follow all boxes.
func (r chart) mermaid() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stateDiagram-v2\n    [*] --> %s\n", r.Start)
	arrows := r.arrows()
	for _, g := range r.Groups {
		if _, nested := r.around(g); !nested {
			r.box(&b, g, arrows, "    ")
		}
	}
	for _, a := range arrows {
		if g, grouped := r.groupOf(fsm.Phase(a.from)); !grouped || !r.owns(g, a.to) {
			a.draw(&b, "    ")
		}
	}
	for _, phase := range r.flow() {
		if slices.Contains(r.Ends, phase) {
			fmt.Fprintf(&b, "    %s --> [*]\n", phase)
		}
	}
	return b.String()
}

// box draws a group: the boxes in it, its own phases, and the arrows between those. Mermaid lets the
// arrows of a box begin at the phase that stands first, so the last of the flow does.
func (r chart) box(b *strings.Builder, g fsm.Group, arrows []arrow, indent string) {
	fmt.Fprintf(b, "%sstate %q as %s {\n", indent, g.Name, g.ID())
	var named []string // phases that need no line of their own, and boxes
	inside := slices.DeleteFunc(slices.Clone(arrows), func(a arrow) bool { return !r.owns(g, fsm.Phase(a.from)) || !r.owns(g, a.to) })
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
		case nested && !slices.Contains(named, inner.ID()):
			r.box(b, inner, arrows, indent+"    ")
			named = append(named, inner.ID())
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
func (r chart) groupOf(p fsm.Phase) (fsm.Group, bool) {
	return r.narrowest(func(g fsm.Group) bool { return g.Holds(p) })
}

func (r chart) owns(g fsm.Group, p fsm.Phase) bool {
	narrow, _ := r.groupOf(p)
	return narrow.Name == g.Name
}

// around is the narrowest group around another.
func (r chart) around(inner fsm.Group) (fsm.Group, bool) {
	return r.narrowest(func(g fsm.Group) bool {
		return len(g.Phases) > len(inner.Phases) && g.Holds(inner.Phases[0])
	})
}

// childOf is the box directly inside of g that a phase stands in, if any.
func (r chart) childOf(g fsm.Group, p fsm.Phase) (fsm.Group, bool) {
	return r.narrowest(func(inner fsm.Group) bool {
		outer, nested := r.around(inner)
		return nested && outer.Name == g.Name && inner.Holds(p)
	})
}

func (r chart) narrowest(fits func(fsm.Group) bool) (narrow fsm.Group, found bool) {
	for _, g := range r.Groups {
		if fits(g) && (!found || len(g.Phases) < len(narrow.Phases)) {
			narrow, found = g, true
		}
	}
	return narrow, found
}

// flow lists the phases in the order of the groups, and then by how soon they can be reached: the
// layout keeps to the order of the text where it can.
func (r chart) flow() (order []fsm.Phase) {
	add := func(phases ...fsm.Phase) {
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
		for _, e := range r.Edges {
			if e.From == order[i] && !slices.Contains(r.Guards, e.On) {
				add(e.To)
			}
		}
	}
	add(r.Phases...)
	return order
}
