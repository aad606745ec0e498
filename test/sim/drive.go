package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// patience is how long, by the plan's clock, an answer may take: more than one
	// resync of the caches, and the back-offs besides.
	patience = 36 * time.Hour
	// mostPasses bounds the passes of one step: whoever needs more is going in circles.
	mostPasses = 600
	// mostSteps bounds those of samplers and workers besides.
	mostSteps = 20_000
	// restPasses bounds those in a time in which nothing much should happen.
	restPasses = 100
	// resyncEvery is how often the manager's caches wake everything: the default.
	resyncEvery = 10 * time.Hour
	// restartTakes is how long nothing runs after a crash.
	restartTakes = 2 * time.Second
)

var errStuck = errors.New("nothing more will happen")

// until lets happen what can until the condition holds and nothing is left to do
// at that moment.
func (r *run) until(ctx context.Context, within time.Duration, condition func() error) error {
	deadline := r.now().Add(within)
	r.passes = 0
	for steps := 0; ctx.Err() == nil && r.passes < mostPasses && steps < mostSteps; steps++ {
		if r.step(ctx) {
			continue
		}
		err := condition()
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrOtherEnd) || !r.advance(deadline) {
			return fmt.Errorf("%w: %w", errStuck, err)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("no answer after %d passes: %w", r.passes, condition())
}

// patience is how long a step may take. A fault may cost any time.
func (r *run) patience(s Step) time.Duration {
	if s.Within > 0 && r.plan.Fault == "" {
		return s.Within
	}
	return patience
}

// during lets happen what does within a time.
func (r *run) during(ctx context.Context, d time.Duration) {
	deadline := r.now().Add(d)
	r.passes = 0
	for steps := 0; ctx.Err() == nil && r.passes < restPasses && steps < mostSteps; steps++ {
		if !r.step(ctx) && !r.advance(deadline) {
			break
		}
	}
}

// step does one thing that can be done now, if there is any.
func (r *run) step(ctx context.Context) bool {
	r.reap()
	r.deliver()
	for _, c := range r.living() {
		if c.step(ctx) {
			return true
		}
	}
	worked := false
	for _, c := range r.living() {
		worked = c.work(ctx) || worked
	}
	if r.play.Meanwhile == nil {
		return worked
	}
	// Even while there is work: it may be waiting for them.
	changed, next, err := r.play.Meanwhile(ctx)
	if err != nil {
		r.diverge("meanwhile: %v", err)
	}
	r.meanwhile = next
	return worked || changed && err == nil
}

// step runs one pass of the process that is due.
func (c *Cell) step(ctx context.Context) bool {
	c.catchUp()
	c.run.mu.Lock()
	c.queue.due(c.run.clock)
	i, has := c.queue.take()
	c.run.mu.Unlock()
	if has {
		c.pass(ctx, i)
	}
	return has
}

// work runs one command of each job of the process, and what samplers have to do.
func (c *Cell) work(ctx context.Context) bool {
	ran := 0
	c.run.mu.Lock()
	c.begins = true
	c.run.mu.Unlock()
	for _, w := range c.workers {
		ran += w.Drive(ctx)
	}
	for _, s := range c.samplers {
		ran += s.Drive(ctx)
	}
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	c.dead = c.dead || c.deposed
	return ran > 0
}

// next is when the process has something to do again.
func (c *Cell) next() time.Time {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	next := c.resync
	if at, waits := c.queue.next(); waits {
		next = earlier(next, at)
	}
	if c.lag != nil {
		next = earlier(next, c.lag.until)
	}
	for _, s := range c.samplers {
		if at, waits := s.Next(); waits {
			next = earlier(next, at)
		}
	}
	return next
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// advance moves the clock to the next thing that is due before the deadline.
func (r *run) advance(deadline time.Time) bool {
	next := deadline.Add(1)
	if !r.meanwhile.IsZero() {
		next = earlier(next, r.meanwhile)
	}
	for _, c := range r.living() {
		next = earlier(next, c.next())
	}
	return r.skipTo(next, deadline)
}

// skipTo moves the clock to a moment, unless that is after the deadline.
func (r *run) skipTo(next, deadline time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if next.After(deadline) {
		return false
	}
	if next.After(r.clock) {
		r.clock = next
	}
	r.resync()
	return true
}

// resync wakes everything in caches whose time has come.
func (r *run) resync() {
	for _, c := range r.cells {
		if !c.resync.After(r.clock) {
			c.resync = c.resync.Add(resyncEvery)
			c.wakeAll()
		}
	}
}

// wakeAll wakes every object that the process's caches hold. The run is locked.
func (c *Cell) wakeAll() {
	for i := range c.controllers {
		moment, _ := c.lags(c.controllers[i].Kind)
		for _, ref := range c.run.record.kind(c.controllers[i].Kind, moment) {
			c.queue.add(item{i, ref.Key})
		}
	}
}

func (r *run) living() []*Cell {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Cell(nil), r.cells...)
}

// reap takes away processes that have ended, and starts one if none is left.
func (r *run) reap() {
	r.mu.Lock()
	var living []*Cell
	for _, c := range r.cells {
		if !c.dead {
			living = append(living, c)
		}
	}
	r.cells = living
	r.mu.Unlock()
	if len(living) == 0 {
		r.wait(restartTakes)
		r.boot()
	}
}

// boot starts a process: it sees every object once.
func (r *run) boot() *Cell {
	c := &Cell{run: r, synced: map[schema.GroupVersionKind]bool{}}
	c.client = c.newClient()
	r.play.Build(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	c.resync = r.clock.Add(resyncEvery)
	switch past := max(0, len(r.record.versions)-rewindBy); r.rewind {
	case Rewound:
		c.begin(past, schema.GroupVersionKind{})
	case RewoundOthers:
		c.begin(past, r.play.Main.GroupVersionKind)
	}
	r.rewind = ""
	c.wakeAll()
	r.booted++
	r.cells = append(r.cells, c)
	return c
}
