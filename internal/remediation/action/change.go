package action

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// Write is how a change reaches its target.
type Write string

// The ways in which a change reaches its target.
const (
	// PatchTarget is one merge patch of the target.
	PatchTarget Write = "Patch"
	// DeleteTarget is one deletion of the very target. It leaves nothing that could bear a token.
	DeleteTarget Write = "Delete"
	// DrainTarget is a patch of the target, evictions of the pods on it, and a patch that says it is done.
	DrainTarget Write = "Drain"
)

// Change is what an action does to its target.
type Change struct {
	Write Write
	// Patch is a JSON merge patch without preconditions and without the token.
	Patch map[string]any
	// Grace is the grace period of a deletion or of evictions in seconds; nil is that of the object itself.
	Grace *int64
	// Before and After are the footprint as it is, and as the patch leaves it. A deletion leaves none.
	Before, After Footprint
	// Fields are those that change, for people and policies.
	Fields []remediationv1.Change
	// Inverse takes the change back; nil if nothing can. Its action is the name of a builtin: a
	// definition may give its own inverse another name.
	Inverse *remediationv1.Inverse
	// Caveat says what the inverse does not bring back, or why there is none.
	Caveat string
	// Summary says in a line what is done.
	Summary string
}

// Plan is what a builtin does to a target. A target on which it cannot be done is a *Refusal.
func Plan(builtin string, target map[string]any, p Params, execution types.UID) (Change, error) {
	b, err := find(builtin)
	if err != nil {
		return Change{}, err
	}
	if p, err = Check(b.Parameters, p.JSON()); err != nil {
		return Change{}, err
	}
	s, err := b.take(target, p, execution)
	if err != nil {
		return Change{}, err
	}
	e, err := b.plan(s)
	if err != nil {
		return Change{}, err
	}
	c := Change{Write: b.write, Patch: e.patch, Grace: e.grace, Fields: e.fields, Summary: cut(e.summary, maxSummary)}
	paths := b.fields(p)
	if c.Before, err = Read(target, paths); err != nil {
		return Change{}, err
	}
	if c.Write != DeleteTarget {
		if c.After, err = Read(Apply(target, c.Patch), paths); err != nil {
			return Change{}, err
		}
	}
	c.Inverse, c.Caveat = b.inverse(e)
	return c, nil
}

// ReadOf reads the footprint that a builtin has with these parameters. It reads any target, also one
// on which the action cannot be done.
func ReadOf(builtin string, target map[string]any, p Params) (Footprint, error) {
	b, err := find(builtin)
	if err != nil {
		return Footprint{}, err
	}
	return Read(target, b.fields(p))
}

func find(name string) (Builtin, error) {
	for _, b := range Builtins() {
		if b.Name == name {
			return b, nil
		}
	}
	return Builtin{}, refuse("There is no built-in action %q.", cut(name, 64))
}

// inverse is what takes an effect back. Parameters that the inverse would itself refuse, such as a
// value that is too long for it, leave the effect without one, and it says so beforehand.
func (b Builtin) inverse(e effect) (*remediationv1.Inverse, string) {
	if e.undo == nil {
		return nil, e.caveat
	}
	back, err := find(b.Inverse)
	if err == nil {
		_, err = Check(back.Parameters, e.undo.JSON())
	}
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return nil, fmt.Sprintf("It cannot be taken back by %s. %s", b.Inverse, r.Say)
	}
	return &remediationv1.Inverse{Action: b.Inverse, Parameters: e.undo.JSON()}, e.caveat
}

const (
	// maxSummary and maxShown are the most bytes that a status takes for a summary and for a value.
	maxSummary = 512
	maxShown   = 1024
)

// field is one change for people and policies. A value that is absent is shown as nothing.
func field(path Path, from, to any) remediationv1.Change {
	return remediationv1.Change{Path: cut(path.String(), maxSummary), From: shown(from), To: shown(to)}
}

func shown(value any) string {
	if value == nil {
		return ""
	}
	return cut(string(canonical(value)), maxShown)
}
