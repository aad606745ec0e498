package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Fleet is what observers ask of a Flight Control.
type Fleet interface {
	List(ctx context.Context, selector, next string) (fleet.Page, error)
	Get(ctx context.Context, name string) (fleet.Device, error)
	Rendered(ctx context.Context, name string) (fleet.Rendered, error)
	LastSeen(ctx context.Context, name string) (at time.Time, is bool, err error)
}

// Connect finds the Flight Control of a pool. fleet.ErrDenied is of credentials that are missing; any other error says that
// they could not be read.
type Connect func(ctx context.Context, p *edgev1.EdgePool) (Fleet, error)

// see reads one device by its name. An answer that there is none is no error.
func see(ctx context.Context, f Fleet, name string) (device.Seen, error) {
	d, err := f.Get(ctx, name)
	switch {
	case errors.Is(err, fleet.ErrGone):
		return device.Seen{Sight: presence.Gone, Device: fleet.Device{Name: name}}, nil
	case err != nil:
		return device.Seen{}, err
	}
	return device.Seen{Sight: presence.Here, Device: d}, nil
}

// blindAfter is how long Flight Control may not answer before pods are told that nothing is known of their devices: about as long as
// from one sweep to the next.
const blindAfter = 30 * time.Second

// accessOf is what an error says of Flight Control. That it takes no more requests for now says nothing new, and is returned.
func accessOf(was pool.Access, err error, now time.Time) (pool.Access, error) {
	var limited *fleet.Limited
	switch {
	case err == nil:
		return pool.Access{State: pool.Answered}, nil
	case errors.As(err, &limited):
		return pool.Access{}, err
	case errors.Is(err, fleet.ErrDenied):
		return pool.Access{State: pool.Denied, Words: sentence(err)}, nil
	}
	since := now.Unix()
	if was.State == pool.Unreachable {
		since = was.Since
	}
	return pool.Access{State: pool.Unreachable, Words: sentence(err), Since: since}, nil
}

// sentence is an error in words that are the same in every try: those of the net name a port of ours.
func sentence(err error) string {
	const longest = 300
	words := []rune(err.Error())
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		words = []rune("the answer took too long")
	case errors.As(err, &op):
		words = []rune(fmt.Sprintf("%s %s: %v", op.Op, op.Addr, op.Err))
	}
	return string(words[:min(len(words), longest)]) + "."
}

// blind says that Flight Control does not answer, or not any more.
func blind(a pool.Access, now time.Time) bool {
	return a.State != pool.Answered && (a.State != pool.Unreachable || now.Sub(time.Unix(a.Since, 0)) >= blindAfter)
}
