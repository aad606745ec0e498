package wiretest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
)

// Limits of waiting, by the clock of the fake.
const (
	fakeStep     = 250 * time.Millisecond
	fakePatience = 90 * time.Second
)

// Fake makes a cluster of servers of the fake that say they are of this version.
func Fake(version string) func(t *testing.T) Cluster {
	return func(*testing.T) Cluster {
		c := fake.New()
		c.Configure("cluster-node-timeout", "2000") // as real ones are in tests
		f := &fakes{Cluster: c}
		var addrs []string
		for i := range Servers {
			addrs = append(addrs, f.address())
			c.Start(addrs[i], version)
		}
		return Cluster{Reader: c, Writer: c, Mover: f, Addrs: addrs, Version: version,
			Until: f.until, Glimpse: f.glimpse, Elapse: f.elapse, Kill: f.kill, Start: f.start}
	}
}

type fakes struct {
	*fake.Cluster
	addresses int
}

func (f *fakes) address() string {
	f.addresses++
	return fmt.Sprintf("10.0.0.%d:6379", f.addresses)
}

// PutAt implements Mover.
func (f *fakes) PutAt(_ context.Context, at wire.Target, slot, keys int) error {
	return f.Cluster.PutAt(at, slot, keys)
}

// until lets time pass only where talking alone does not lead there.
func (f *fakes) until(_ context.Context, done func() bool) error {
	if done() {
		return nil
	}
	f.Settle()
	for waited := time.Duration(0); !done() && waited < fakePatience; waited += fakeStep {
		f.Advance(fakeStep)
		f.Settle()
	}
	return nil
}

// glimpse looks after every step.
func (f *fakes) glimpse(_ context.Context, done func() bool) error {
	for waited := time.Duration(0); waited < fakePatience; waited += fakeStep {
		for steps := f.Steps(); len(steps) > 0; steps = f.Steps() {
			for _, step := range steps {
				if f.Deliver(step); done() {
					f.Settle()
					return nil
				}
			}
		}
		f.Advance(fakeStep)
	}
	return nil
}

func (f *fakes) elapse(_ context.Context, d time.Duration) error {
	for ; d > 0; d -= fakeStep {
		f.Advance(min(d, fakeStep))
		f.Settle()
	}
	return nil
}

func (f *fakes) kill(addr string) error {
	f.Kill(addr)
	return nil
}

func (f *fakes) start(addr string, how Restart) (string, error) {
	r := fake.Restart{Forgets: how.Forgets, Empties: how.Empties, Addr: addr}
	if how.Moves {
		r.Addr = f.address()
	}
	f.Restart(addr, r)
	f.MistakeForPrimary(r.Addr, how.MistakesForPrimary)
	return r.Addr, nil
}
