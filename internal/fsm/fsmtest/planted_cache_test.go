package fsmtest_test

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest/internal/cache"
)

type (
	store      = cache.Cache
	storeInput = fsm.Input[*store, cache.World]
	storeRule  = fsm.Rule[storeInput]
)

func brokenCache(b fsmtest.Bench[*store, cache.World], phase fsm.Phase, plant func(*storeRule)) fsmtest.Bench[*store, cache.World] {
	m := cache.Machine
	m.Rules = change(m.Rules, phase, plant)
	b.Machine, b.Safe = &m, nil
	return b
}

// cacheFaults are faults of a standing kind.
func cacheFaults() map[string]planted {
	// The first phase only knows how to begin: what was made already is not found again.
	forgetful := brokenCache(cache.Bench(), cache.Applying, func(r *storeRule) {
		own := r.Decide
		r.Decide = func(in storeInput) fsm.Decision {
			if s := in.World.Server; s != nil && s.Ready {
				return fsm.Wait("Applying", "servers")
			}
			return own(in)
		}
	})

	forgetful.Settle = func(c *store, w cache.World) cache.World {
		if c.Status.Phase == cache.Applying {
			return w
		}
		return cache.Settle(c, w)
	}

	clock := brokenCache(cache.Bench(), cache.Running, func(r *storeRule) {
		r.Decide = func(in storeInput) fsm.Decision {
			return fsm.Wait("Serving", "servers").Because("looked at %s", in.Now)
		}
	})

	// Both in one batch: a crash in between leaves the server behind, or takes it twice.
	half := brokenCache(cache.Leaving(), cache.Deleting, func(r *storeRule) {
		r.Decide = func(in storeInput) fsm.Decision {
			return fsm.Do("Removing", cache.Release{}, cache.DeleteServer{UID: "s1"})
		}
	})

	moving := cache.Bench()
	m := cache.Machine
	m.Reflex = func(in storeInput) (fsm.Decision, bool) {
		return fsm.Fire(cache.Outdated, "Relabel"), in.World.Server != nil && !in.World.Server.Labeled
	}
	moving.Machine = &m

	return map[string]planted{
		"a phase that cannot be found again": {forgetful.Amnesia, "amnesia in pass 5: ends Applying, not Running"},
		"the clock in a message":             {clock.Rest, "writes at rest"},
		"a batch that may be left half done": {half.Crash, "crash in pass"},
		"a reflex that moves":                {moving.Explore, "reflex moves"},
	}
}
