package volumerestore

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Effect is what a restore may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// CreateKeeper makes the keeper, which remembers the namespace by its UID.
type CreateKeeper struct{ Namespace types.UID }

// CreateProbe makes the Job of a rehearsal, which the keeper owns.
type CreateProbe struct{ Keeper types.UID }

// DeleteProbe ends a Job that still runs.
type DeleteProbe struct {
	UID             types.UID
	ResourceVersion string
}

// DeleteClaim deletes a claim that is bound to nothing, in the version that was seen: if
// it is bound meanwhile it has another. If it were wrong, restored data would be lost, or an
// application would start without any.
type DeleteClaim struct {
	UID             types.UID
	ResourceVersion string
}

func (CreateKeeper) effect() {}
func (CreateProbe) effect()  {}
func (DeleteProbe) effect()  {}
func (DeleteClaim) effect()  {}

func (CreateKeeper) String() string  { return "create-keeper" }
func (CreateProbe) String() string   { return "create-probe" }
func (e DeleteProbe) String() string { return "delete-probe " + string(e.UID) }
func (e DeleteClaim) String() string { return "delete-claim " + string(e.UID) }
