package sim

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/test/bed"
)

const (
	sideBySide      = 8 // plans
	tellEvery       = time.Minute
	checkEvery      = 500 * time.Millisecond
	collectedWithin = 90 * time.Second // the garbage collector looks for new kinds every 30 s
)

// Options say what is tried.
type Options struct {
	Seed   uint64
	Budget time.Duration // 0: until everything was tried
	Pairs  bool          // two faults a plan, as many plans as fit
	Plan   string        // this one alone
	Faults []Fault       // all, if empty
	Out    io.Writer     // is told now and then how far it is; nil: nobody
}

// Run tries a subject under faults.
func (l *Lab) Run(ctx context.Context, o Options) (*Report, error) {
	c := &campaign{lab: l, options: o, name: fmt.Sprintf("%s-%x", l.subject.Name, time.Now().UnixNano()&0xffffffff), report: &Report{Subject: l.subject, Options: o, Ends: map[string]int{}}}
	if err := c.clean(ctx); err != nil {
		return nil, fmt.Errorf("%s without faults: %w", l.subject.Name, err)
	}
	calls := c.reference.stormy()
	c.plans = plansOf(calls, o.Faults)
	c.report.count(calls, c.plans)
	if o.Plan != "" {
		plan, err := find(c.plans, o.Plan)
		if err != nil {
			return nil, err
		}
		c.plans = []Plan{plan}
	}
	c.told = time.Now()
	c.began = time.Now() // the first run may have waited for the garbage collector to learn a kind
	err := c.try(ctx)
	c.report.Took = time.Since(c.began)
	return c.report, err
}

type campaign struct {
	lab       *Lab
	options   Options
	name      string // of its plans' namespaces; campaigns on one bed must not meet
	began     time.Time
	reference *run              // without faults
	want      map[string]string // its end
	plans     []Plan

	mu     sync.Mutex
	report *Report
	told   time.Time
}

// clean runs the story without faults. Its writes are counted by the API server, too.
func (c *campaign) clean(ctx context.Context) error {
	since := time.Now()
	r, err := newRun(ctx, c.lab, c.id(0), Plan{})
	if err != nil {
		return err
	}
	if err := r.perform(ctx); err != nil {
		return err
	}
	if err := r.failed(); err != nil {
		return err
	}
	if c.want, err = r.reference(ctx); err != nil {
		return err
	}
	c.reference = r
	audited, err := c.lab.bed.Writes(since, c.lab.subject.User)
	if err != nil {
		return err
	}
	stored := audited[:0]
	for _, w := range audited {
		if w.Code < 300 {
			stored = append(stored, w)
		}
	}
	if d := differ(r.writes, bed.CountWrites(stored)); d != "" {
		return fmt.Errorf("writes counted here and by the API server: %s", d)
	}
	return nil
}

// ofEvents is a read for words alone, which is made while a controller of Kubernetes is slow to make a pod: whether it
// comes is a matter of the machine, and nothing is decided by it.
const ofEvents = "live list Event"

// stormy are the calls of steps and phases in which faults strike.
func (r *run) stormy() (calls []*Call) {
	for _, call := range r.calls {
		if call.Site == ofEvents {
			continue
		}
		if calm := r.play.Calm; calm != nil && calm(call.Phase) {
			continue
		}
		if i := call.Stage - 1; i < 0 || i >= len(r.play.Steps) || !r.play.Steps[i].Calm {
			calls = append(calls, call)
		}
	}
	return calls
}

func (c *campaign) id(n int) string { return fmt.Sprintf("%s-%d", c.name, n) }

// try tries plans side by side.
func (c *campaign) try(ctx context.Context) error {
	finished := make(chan *run, sideBySide)
	checks, checkCtx := errgroup.WithContext(ctx)
	checks.Go(func() error { return c.check(checkCtx, finished) })
	plans := c.feed(ctx)
	work, workCtx := errgroup.WithContext(ctx)
	for range sideBySide {
		work.Go(func() error {
			for next := range plans {
				r, err := c.strike(workCtx, next)
				if err != nil {
					return fmt.Errorf("plan %s: %w", next.Plan, err)
				}
				finished <- r
			}
			return nil
		})
	}
	err := work.Wait()
	close(finished)
	if checked := checks.Wait(); err == nil {
		err = checked
	}
	return err
}

// attempts is how often a plan is tried whose call does not come.
const attempts = 4

// strike runs a plan. A story that asks its servers side by side does not call
// equally often every time: one that ended before the last call of a boundary, as
// the first run counted it, is told again and struck at the last that came.
func (c *campaign) strike(ctx context.Context, next numbered) (*run, error) {
	plan := next.Plan
	for n := 1; ; n++ {
		r, err := newRun(ctx, c.lab, fmt.Sprintf("%s-%d", c.id(next.n), n), plan)
		if err != nil {
			return nil, err
		}
		if err := r.perform(ctx); err != nil {
			return nil, err
		}
		came := r.seen[plan.Boundary]
		if r.struck > 0 || came == 0 || len(r.wrong) > 0 || n == attempts {
			r.plan = next.Plan // as it is named
			return r, nil
		}
		plan.Nth = came
	}
}

type numbered struct {
	Plan
	n int
}

// feed gives out plans while there are any.
func (c *campaign) feed(ctx context.Context) <-chan numbered {
	out := make(chan numbered)
	next := c.order()
	go func() {
		defer close(out)
		for n := 1; !c.spent(); n++ {
			plan, more := next(n)
			if !more {
				return
			}
			select {
			case out <- numbered{plan, n}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// order is in which order plans are tried: the seed decides. Pairs have no end.
func (c *campaign) order() func(n int) (Plan, bool) {
	chance := rand.New(rand.NewPCG(c.options.Seed, 0)) //nolint:gosec // repeatable on purpose
	if c.options.Pairs && c.options.Plan == "" {
		return func(int) (Plan, bool) {
			return pair(c.plans[chance.IntN(len(c.plans))], c.options.Faults, chance), true
		}
	}
	order := chance.Perm(len(c.plans))
	return func(n int) (Plan, bool) {
		if n > len(order) {
			return Plan{}, false
		}
		return c.plans[order[n-1]], true
	}
}

func (c *campaign) spent() bool {
	return c.options.Budget > 0 && time.Since(c.began) > c.options.Budget
}

// check looks at the ends of plans together: by the time it does, garbage
// collection is done with most of them.
func (c *campaign) check(ctx context.Context, finished <-chan *run) error {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	var waiting []*run
	for finished != nil || len(waiting) > 0 {
		select {
		case r, open := <-finished:
			if !open {
				finished = nil
			} else if err := r.failed(); err != nil {
				c.conclude(r, err)
			} else {
				waiting = append(waiting, r)
			}
		case <-ticker.C:
			var err error
			if waiting, err = c.checkAll(ctx, waiting); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// checkAll returns those whose end is not yet what it should be.
func (c *campaign) checkAll(ctx context.Context, waiting []*run) (still []*run, err error) {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sideBySide)
	for _, r := range waiting {
		g.Go(func() error {
			again, err := r.judge(ctx, c.reference, c.want)
			if err != nil && again && time.Since(r.ended) < collectedWithin {
				mu.Lock()
				defer mu.Unlock()
				still = append(still, r)
				return ctx.Err()
			}
			c.conclude(r, err)
			return nil
		})
	}
	return still, g.Wait()
}

func (c *campaign) conclude(r *run, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Tried++
	if c.options.Out != nil {
		c.tell(r, err)
	}
	if r.second {
		c.report.Twice++
	}
	if err != nil {
		c.report.Divergences = append(c.report.Divergences, Divergence{Plan: r.plan, Why: err.Error()})
		return
	}
	c.report.Ends[r.end]++
}

// tell says now and then how far it is, and at once that something diverged: the
// report may be an hour away.
func (c *campaign) tell(r *run, err error) {
	name := c.lab.subject.Area + "/" + c.lab.subject.Name
	if err != nil {
		fmt.Fprintf(c.options.Out, "sim %s: plan %s diverged\n", name, r.plan)
	}
	if time.Since(c.told) > tellEvery {
		c.told = time.Now()
		fmt.Fprintf(c.options.Out, "sim %s: %d plans so far\n", name, c.report.Tried)
	}
}
