package manifestrestore

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

// CreateKeeper makes the keeper of the request, in whose namespace with that UID it is. From
// then on the request has begun, and is not begun again.
type CreateKeeper struct{ Namespace types.UID }

// Begin begins the job of a stage, after whatever other job of the request there is has
// ended. A job that was stopped by an error is reported, and then begun again.
type Begin struct {
	Stage  Stage
	Keeper types.UID // owns the VolumeRestoreRequests that the job makes
}

func (CreateKeeper) effect() {}
func (Begin) effect()        {}

func (e CreateKeeper) String() string { return "create-keeper" }
func (e Begin) String() string        { return "begin " + string(e.Stage) }
