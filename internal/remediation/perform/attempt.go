package perform

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// Patience is how long the program waits for what.
type Patience struct {
	Read, Write time.Duration // for an answer
	Conflict    time.Duration // at most, before it reads again after a conflict
	Retry       time.Duration // at most, before it reads again after an error
	Evict       time.Duration // at most, before it looks at pods again that are to go
	// Settle is how long it goes on reading when its time is over, to learn what became of a write.
	Settle time.Duration
}

// Usual fits into the 30 seconds that a pod has to end: one write, and what it takes to learn its outcome.
// A controller that writes the target all the time does not keep the action out: it reads again at once.
var Usual = Patience{
	Read: 8 * time.Second, Write: 20 * time.Second, Conflict: 20 * time.Millisecond, Retry: 500 * time.Millisecond, Evict: 2 * time.Second,
	Settle: 5 * time.Second,
}

// attempt is one run of the program.
type attempt struct {
	command  action.Command
	object   Object
	patience Patience
	// pending is a write whose outcome is not known.
	pending *write
	// last is what the API server said last, if it was no answer.
	last error
}

// Perform does the action. When the context ends it writes nothing more, and reports what it knows.
func Perform(ctx context.Context, o Object, c action.Command, p Patience) action.Report {
	a := &attempt{command: c, object: o, patience: p}
	for {
		again, report := a.round(ctx, a.looking(ctx))
		if report != nil {
			return *report
		}
		if !wait(a.looking(ctx), again) {
			return *a.ended(ctx)
		}
	}
}

// looking is how long the target is read: a pending write is looked for longer than it is written.
func (a *attempt) looking(ctx context.Context) context.Context {
	if a.pending != nil {
		return a.pending.settling
	}
	return ctx
}

// round reads the target, and writes it if it is what was approved. It returns the report, or how
// long to wait before the next round.
func (a *attempt) round(ctx, looking context.Context) (time.Duration, *action.Report) {
	within, cancel := context.WithTimeout(looking, a.patience.Read)
	defer cancel()
	target, err := a.object.Get(within)
	switch {
	case err != nil && looking.Err() != nil: // not an answer of the API server
		return a.patience.Retry, nil
	case err != nil:
		return a.patience.Retry, a.unread(err)
	}
	if a.hasBegun(target) { // the answer was lost
		return 0, a.evict(ctx, a.pending.change, nil)
	}
	if r := a.judge(target); r != nil {
		return 0, r
	}
	if ctx.Err() != nil { // a pending write may still be done
		return a.patience.Retry, nil
	}
	return a.write(ctx, target)
}

// outlive is a context that ends so long after another one, and not before so long from now.
func outlive(ctx context.Context, d time.Duration) context.Context {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return out
}

// wait waits for up to so long, and says whether there is time left. Chance keeps two writers that
// wait for each other from meeting again.
func wait(ctx context.Context, most time.Duration) bool {
	pause := most/4 + rand.N(most*3/4+1)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return ctx.Err() == nil
	}
}
