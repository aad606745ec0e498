package sim

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	errDead        = errors.New("the process has ended")
	errUnavailable = apierrors.NewInternalError(errors.New("something went wrong on purpose"))
	errTimedOut    = &url.Error{Op: "Do", URL: "the API server", Err: context.DeadlineExceeded}
	errChanged     = apierrors.NewConflict(schema.GroupResource{}, "it", errors.New("it was changed on purpose"))
)

const clockJump = 10 * time.Minute

// op is one call out of a process.
type op struct {
	site string
	kind callKind
	// do performs it. answer hands the result to the caller; a caller whose call
	// timed out gets none.
	do func(context.Context, *Call) (answer func(), err error)
}

// cross is how every call leaves a process: it is counted, and may be struck.
func (c *Cell) cross(ctx context.Context, o op) error {
	call := c.run.arrive(c, o.site, o.kind)
	if call == nil {
		return errDead
	}
	// The machine may be slow; only the plan's clock counts.
	ctx = context.WithoutCancel(ctx)
	if err := c.strike(ctx, call); err != nil {
		return err
	}
	answer, err := o.do(ctx, call)
	switch call.fault {
	case TimedOut:
		c.run.deliver()
		return errTimedOut
	case EarlyEvent:
		c.run.deliver()
	}
	if err == nil && answer != nil {
		answer()
	}
	return err
}

// arrive counts a call, and says with call.fault what strikes it. It is nil if the
// process has ended.
func (r *run) arrive(c *Cell, site string, kind callKind) *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c != nil && c.dead {
		return nil
	}
	phase := r.phase()
	call := &Call{
		Boundary: Boundary{r.stage, phase, site}, kind: kind, placed: phase != "",
		ofMain: strings.HasSuffix(site, " "+r.play.Main.Kind), exposed: r.play.Meddle != nil,
	}
	if c != nil {
		call.leads, c.begins = c.begins, false
	}
	if r.resting {
		return call // every pass is like the one before
	}
	r.seen[call.Boundary]++
	call.nth = r.seen[call.Boundary]
	if r.called++; r.plan.Fault == "" {
		r.calls = append(r.calls, call)
	}
	call.fault = r.strikes(call)
	return call
}

func (r *run) strikes(call *Call) Fault {
	switch p := r.plan; {
	case p.Fault == "":
	case r.struck == 0:
		if p.Spot == (Spot{call.Boundary, call.nth}) {
			r.struck = r.called
			return p.Fault
		}
	case p.Second != "" && !r.second && r.called > r.struck+p.After && p.Second.mayStrike(call):
		r.second = true
		return p.Second
	}
	return ""
}

// mayStrike is at, when it is not known yet whom the call will wake.
func (f Fault) mayStrike(c *Call) bool {
	if f.tells() {
		return c.changes() || c.kind == byUser
	}
	return f.at(c)
}

// strike does what a fault does before the call. An error is the caller's answer.
func (c *Cell) strike(ctx context.Context, call *Call) error {
	switch call.fault {
	case Crash, Rewound, RewoundOthers:
		c.run.mu.Lock()
		defer c.run.mu.Unlock()
		c.dead, c.run.rewind = true, call.fault
		return errDead
	case Conflict:
		return errChanged
	case Unavailable:
		return errUnavailable
	case Stale:
		c.run.mu.Lock()
		defer c.run.mu.Unlock()
		c.begin(len(c.run.record.versions), schema.GroupVersionKind{})
	case TwoLeaders, Takeover:
		c.depose(ctx, call.fault)
	case ClockJump:
		c.run.wait(clockJump)
	case Wiped:
		if err := c.run.wipe(ctx); err != nil {
			c.run.diverge("wipe the status: %v", err)
		}
	case Meddled:
		c.run.meddle(ctx)
	}
	return nil
}

// takeoverLasts is how long another leader is at work while this one hangs.
const takeoverLasts = time.Second

// depose lets another process lead while this one is in the middle of a pass. It
// does not know, and goes on to the end of the pass.
func (c *Cell) depose(ctx context.Context, how Fault) {
	r := c.run
	other := r.boot()
	r.mu.Lock()
	c.deposed, other.warm = true, true
	r.mu.Unlock()
	if how == TwoLeaders {
		other.stepMain(ctx)
		return
	}
	until := r.now().Add(takeoverLasts)
	for passes := 0; passes < mostPasses; passes++ {
		r.deliver()
		if !other.step(ctx) && !other.work(ctx) && !r.skipTo(other.next(), until) {
			return
		}
	}
}

// stepMain runs one pass over the main object.
func (c *Cell) stepMain(ctx context.Context) {
	for i := range c.controllers {
		if c.controllers[i].Kind == c.run.play.Main.GroupVersionKind {
			c.pass(ctx, item{i, c.run.play.Main.Key})
		}
	}
}

// Call crosses the boundary to a system outside of Kubernetes. changes says that
// the call may change something there; do performs it and hands over the answer.
func (c *Cell) Call(ctx context.Context, site string, changes bool, do func(context.Context) (answer func(), err error)) error {
	kind := liveRead
	if changes {
		kind = creation
	}
	return c.cross(ctx, op{site: site, kind: kind, do: func(ctx context.Context, _ *Call) (func(), error) {
		answer, err := do(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", site, err)
		}
		return answer, nil
	}})
}
