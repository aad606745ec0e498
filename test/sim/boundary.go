package sim

import (
	"fmt"
	"strings"
)

// Boundary tells places apart where a fault may do different things: how far the
// story is, the phase of the main object, and what is called.
type Boundary struct {
	Stage int
	Phase string
	Site  string
}

func (b Boundary) String() string {
	phase := b.Phase
	if phase == "" {
		phase = "new"
	}
	return fmt.Sprintf("%d.%s.%s", b.Stage, phase, strings.ReplaceAll(b.Site, " ", "-"))
}

// callKind is what faults can make of a call.
type callKind int

const (
	cachedRead callKind = iota
	liveRead
	creation // a write that no version is a precondition of
	write
	byUser
	played // by a program that the story plays
)

// Call is one crossing of a boundary.
type Call struct {
	Boundary
	nth    int // of this boundary's, from 1
	kind   callKind
	leads  bool // the first of a pass, or of a command of a worker
	placed bool // the main object has a phase: there is a status to lose
	ofMain bool // it is about objects of the main kind
	// exposed says that somebody may write what the story is about before it.
	exposed bool
	wakes   int // passes that it led to
	fault   Fault
}

// changes says that the call is a write of a controller.
func (c *Call) changes() bool { return c.kind == write || c.kind == creation }

// Spot is a boundary's first or last call, where a plan strikes.
type Spot struct {
	Boundary
	Nth int
}

func (s Spot) String() string { return fmt.Sprintf("%s.%d", s.Boundary, s.Nth) }

// spots are the first and the last call of each boundary, in the order of calls.
// Those between are of one fan-out, or of passes that only wait on.
func spots(calls []*Call) (found []*Call) {
	last := map[Boundary]int{}
	for _, c := range calls {
		last[c.Boundary] = c.nth
	}
	for _, c := range calls {
		if c.nth == 1 || c.nth == last[c.Boundary] {
			found = append(found, c)
		}
	}
	return found
}
