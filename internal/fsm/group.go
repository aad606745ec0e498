package fsm

import (
	"fmt"
	"slices"
	"strings"
)

// Group is a box of the diagram around the phases of one flow, in their usual order. Groups nest or
// are disjoint. An event that leads from all phases of a group to one phase is drawn once, from the box.
type Group struct {
	Name   string
	Phases []Phase
}

// ID is the name of the box inside of the diagram.
func (g Group) ID() string { return strings.ReplaceAll(g.Name, " ", "") }

// Holds says that a phase is in the group.
func (g Group) Holds(p Phase) bool { return slices.Contains(g.Phases, p) }

// checkGroups says what a diagram could not draw.
func (r *Rules[I]) checkGroups() (errs []error) {
	for i, g := range r.Groups {
		if len(g.Phases) == 0 || !name.MatchString(g.ID()) {
			errs = append(errs, fmt.Errorf("group %q lacks phases, or a name of words", g.Name))
		}
		if _, taken := r.Phases[Phase(g.ID())]; taken {
			errs = append(errs, fmt.Errorf("group %s has the name of a phase", g.Name))
		}
		errs = append(errs, r.unknown("group "+g.Name, g.Phases)...)
		for _, other := range r.Groups[:i] {
			shared := len(slices.DeleteFunc(slices.Clone(g.Phases), func(p Phase) bool { return !other.Holds(p) }))
			nested := len(g.Phases) != len(other.Phases) && shared == min(len(g.Phases), len(other.Phases))
			if other.ID() == g.ID() || shared > 0 && !nested {
				errs = append(errs, fmt.Errorf("groups %s and %s are neither nested nor apart", other.Name, g.Name))
			}
		}
	}
	return errs
}
