package act

import (
	"errors"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Reasons of an effect that Flight Control did not let happen.
const (
	ReasonDenied  fsm.Reason = "CredentialsRefused" // the credentials of the pool are not valid, or do not suffice
	ReasonRefused fsm.Reason = "RefusedByServer"    // Flight Control finds what was sent invalid
)

// sorted is an error of Flight Control in the classes of the kernel, with a sentence that does not change from try to try.
func sorted(device string, err error) error {
	var owned *fleet.Owned
	var refused *fleet.Refused
	var limited *fleet.Limited
	var known *fsm.Error
	switch {
	case err == nil, errors.As(err, &known): // what an edit has decided by itself
		return err
	case errors.As(err, &owned):
		return changed(err, "Device "+device+" belongs to "+owned.Owner+", so its spec is not edited: take it out of the fleet by its labels.")
	case errors.Is(err, fleet.ErrGhost), errors.Is(err, fleet.ErrGone):
		return changed(err, "Flight Control has no device "+device+" any more.")
	case errors.Is(err, fleet.ErrStale), errors.Is(err, fleet.ErrConflict):
		return changed(err, "Device "+device+" was changed by others meanwhile.")
	case errors.Is(err, fleet.ErrDenied):
		return &fsm.Error{Class: fsm.Refused, Err: err, Reason: ReasonDenied, Say: "Flight Control refuses to let the pool's credentials edit device " + device + ": renew them, or grant them more."}
	case errors.As(err, &refused):
		return &fsm.Error{Class: fsm.Refused, Err: err, Reason: ReasonRefused, Say: "Flight Control refuses the spec of device " + device + ": " + refused.Message}
	case errors.As(err, &limited):
		return &fsm.Error{Class: fsm.Transient, Err: err, Say: "Flight Control takes no more requests just now."}
	}
	return &fsm.Error{Class: fsm.Transient, Err: err, Say: "Flight Control does not answer."}
}

func changed(err error, say string) error {
	return &fsm.Error{Class: fsm.Changed, Err: err, Say: say}
}
