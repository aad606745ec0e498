package class

import (
	"fmt"
	"strings"
)

// Effect is what a class may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// Apply brings children into the shape that the spec asks for. All are tried before the first error is reported: a
// function that is refused does not keep another from being applied.
type Apply struct{ Children []Target }

// Target is one child to be applied: of which function, and the object that was seen, if there was one.
type Target struct {
	Function string
	Ref
	// Corrects are the fields that others changed, of a child that would be current without that.
	Corrects []Edit
	// Retake says that a person asked for the replicas of the spec, over any other owner.
	Retake bool
	// Lane says that a lane of enforcement governs the replicas: they stay what they are then, and are no fewer than this. nil is that none does.
	Lane *int32
}

// Scale sets the replicas of a function whose Deployment has From of them, as a lane of enforcement has decided.
type Scale struct {
	Function string
	Ref
	From, To int32
	// Retake says that a person asked for that, over any other owner.
	Retake bool
}

// RemoveOrphans deletes children that no function has any more. If it were wrong, a function that runs would be
// stopped: so only these very objects go, in these very versions, which this class controls.
type RemoveOrphans struct{ Orphans []Ref }

func (Apply) effect()         {}
func (RemoveOrphans) effect() {}
func (Scale) effect()         {}

func (e Apply) String() string {
	names := make([]string, len(e.Children))
	for i, c := range e.Children {
		names[i] = c.String()
	}
	return "apply " + strings.Join(names, ", ")
}

func (e RemoveOrphans) String() string {
	names := make([]string, len(e.Orphans))
	for i, o := range e.Orphans {
		names[i] = o.String()
	}
	return "remove " + strings.Join(names, ", ")
}

func (e Scale) String() string { return fmt.Sprintf("set %s to %s", e.Ref, replicas(e.To)) }

// Evidence says what allows it.
func (e RemoveOrphans) Evidence() string {
	return fmt.Sprintf("The spec has no function of %s, which this class controls.", some(e.Orphans))
}
