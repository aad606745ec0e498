package kube

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

const (
	inProcess    = 8 // contenders that are killed between two calls
	inProcesses  = 2 // contenders that are processes and are killed at any instant
	targets      = 12
	acquisitions = 10_000
	longestLife  = 200 // calls
)

// memory is the history of all contenders.
type memory struct {
	mu       sync.Mutex
	history  []event
	acquired atomic.Int64
}

func (*memory) calls(event) {}

func (m *memory) answers(e event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.history = append(m.history, e)
	if e.Verb == verbTake && e.Result == resultDone {
		m.acquired.Add(1)
	}
}

// Ten contenders fight over a dozen targets, are killed and come back. At every moment
// each target admits at most one of them; a checker says so from the history alone.
func TestReservationsAdmitOneAtATime(t *testing.T) {
	b := lamps(t)
	c := contest{Namespace: bedtest.Namespace(t, b)}
	for i := range targets {
		c.Targets = append(c.Targets, read.Ref{Kind: lampKind, Namespace: c.Namespace, Name: fmt.Sprintf("target-%d", i), UID: types.UID(fmt.Sprintf("%s-%d", c.Namespace, i))})
	}
	began, m := time.Now(), &memory{}
	var kills, takenOver atomic.Int64
	g, ctx := errgroup.WithContext(t.Context())
	for i := range inProcess {
		id := fmt.Sprintf("c%d", i)
		one := newContender(c, id, uint64(i), m)
		lives := reborn{contender: one, memory: m, kills: &kills, client: newWatchClient(t, b.ConfigFor(id, "system:masters"))}
		g.Go(func() error {
			defer func() { takenOver.Add(int64(one.takenOver)) }()
			return lives.run(ctx)
		})
	}
	for i := range inProcesses {
		p := &processes{contest: c, id: fmt.Sprintf("p%d", i), bed: b, memory: m, kills: &kills, client: newClient(t, b.Config())}
		p.chance = rand.New(rand.NewPCG(uint64(i), 2))
		g.Go(func() error { return p.run(ctx) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	fought := time.Since(began)
	if result := judge(t, m.history); result != porcupine.Ok {
		t.Errorf("more than one holder at a time, or a living one replaced: %s", result)
	}
	t.Logf("%d acquisitions, at least %d of them takeovers, by %d contenders of %d targets with %d kills in %.1f s; %d events checked in %.1f s",
		m.acquired.Load(), takenOver.Load(), inProcess+inProcesses, targets, kills.Load(), fought.Seconds(), len(m.history), time.Since(began).Seconds()-fought.Seconds())
	if kills.Load() < 100 || takenOver.Load() < 100 {
		t.Error("too peaceful to show anything")
	}
}

// reborn is a contender that is killed between two calls, again and again.
type reborn struct {
	*contender
	*memory
	client client.WithWatch
	kills  *atomic.Int64
}

func (r *reborn) run(ctx context.Context) error {
	for r.acquired.Load() < acquisitions {
		r.contender.client = mortal(r.client, &fuse{left: 1 + r.chance.IntN(longestLife), losesReply: r.chance.IntN(2) == 0})
		err := error(nil)
		for err == nil && r.acquired.Load() < acquisitions {
			err = r.round(ctx)
		}
		if err != nil && !errors.Is(err, errKilled) {
			return fmt.Errorf("contender %s: %w", r.id, err)
		}
		r.kills.Add(1)
		r.contender.client = r.client
		for target, maybe := range r.maybe {
			if !maybe {
				continue
			}
			if err := r.recover(ctx, target); err != nil {
				return fmt.Errorf("contender %s recovers: %w", r.id, err)
			}
		}
	}
	return nil
}

// recover is what happens to a target that a killed contender may hold.
func (r *reborn) recover(ctx context.Context, target int) error {
	holder := r.holders[target]
	switch r.chance.IntN(3) {
	case 0: // its holder goes with it
		return r.end(target, func() error { return client.IgnoreNotFound(r.client.Delete(ctx, holder)) })
	case 1: // it comes back, takes what it holds, and goes on from there
		if taken, err := r.take(ctx, target, holder); err != nil || !taken {
			return err
		}
		return r.release(ctx, target, holder)
	}
	return nil // it holds it for a while longer, and does nothing
}
