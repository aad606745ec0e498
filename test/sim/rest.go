package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	settles = 2 * time.Minute // after the last answer, in which things may still be put right
	// At rest everything is woken so many times, so far apart, and nothing is written.
	restRounds = 3
	restEvery  = time.Minute
)

// rest looks whether the end stays. Faults may strike in the first round.
func (r *run) rest(ctx context.Context) {
	r.mu.Lock()
	r.stage++
	r.mu.Unlock()
	if _, err := r.world.Sync(ctx, r.lab.subject.Kinds...); err != nil {
		r.diverge("look at what others wrote: %v", err)
	}
	r.wakeEverything()
	r.during(ctx, settles)
	if last := len(r.play.Steps) - 1; r.end == "" && last >= 0 && len(r.wrong) == 0 {
		if err := r.play.Steps[last].Until(); err != nil {
			if r.end = r.otherEnd(); r.end == "" {
				r.diverge("did not stay: %v", err)
			}
		}
	}
	r.mu.Lock()
	r.resting = true
	before := maps.Clone(r.writes)
	r.mu.Unlock()
	for range restRounds {
		r.wait(restEvery)
		r.wakeEverything()
		r.during(ctx, restEvery/2)
	}
	if more := added(before, r.writes); more != "" {
		r.diverge("wrote at rest: %s", more)
	}
}

func (r *run) wakeEverything() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.cells {
		c.wakeAll()
		for i := range c.controllers { // also what is gone: an event may come late
			if c.controllers[i].Kind == r.play.Main.GroupVersionKind {
				c.queue.add(item{i, r.play.Main.Key})
			}
		}
	}
}

func added(before, after map[string]int) string {
	var more []string
	for _, what := range slices.Sorted(maps.Keys(after)) {
		if n := after[what] - before[what]; n > 0 {
			more = append(more, fmt.Sprintf("%d × %s", n, what))
		}
	}
	return strings.Join(more, ", ")
}

// meddle lets somebody else write what the story is about.
func (r *run) meddle(ctx context.Context) {
	if err := r.play.Meddle(ctx); err != nil {
		r.diverge("meddle: %v", err)
	}
}

// wipe clears the status of the main object, as a restore from a backup would.
func (r *run) wipe(ctx context.Context) error {
	r.mu.Lock()
	obj := r.record.latest(r.play.Main)
	r.mu.Unlock()
	if obj == nil {
		return nil
	}
	if r.play.Wipe != nil {
		return r.play.Wipe(ctx)
	}
	err := r.world.Client.Status().Patch(ctx, obj.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"status":null}`)))
	return client.IgnoreNotFound(err)
}
