package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/node/guard"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// ErrRefused says that the server must not start. To try again is right. ErrDataMissing is one of
// these: the server lost its data, and no server that followed it is known to have it.
var (
	ErrRefused     = errors.New("the server must not start")
	ErrDataMissing = fmt.Errorf("%w with nothing", ErrRefused)
)

const (
	lookEvery    = 50 * time.Millisecond
	resolveEvery = time.Second
	// askAgain is after which time an answer that led to nothing is asked for again.
	askAgain = 2500 * time.Millisecond
)

// await returns when the server may start.
func (r *Run) await(ctx context.Context, here guard.Here, memory string, timeout time.Duration) error {
	client, err := r.Access.client()
	if err != nil {
		return err
	}
	defer client.Close()
	patience := r.Patience
	if patience == 0 {
		patience = 4*timeout + 10*time.Second // an automatic failover takes half of it
	}
	w := &wait{Run: r, client: client, here: here, memory: memory, timeout: timeout}
	began := time.Now()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		w.here.Settled, w.here.Late = time.Since(began) > 2*timeout, time.Since(began) > patience
		if done, err := w.round(ctx); done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// wait is one wait for the right moment to start.
type wait struct {
	*Run
	client  *wire.Client
	here    guard.Here
	memory  string // the file of what the server knows
	timeout time.Duration

	said     string
	asked    time.Time
	mode     wire.FailoverMode
	seeds    []string
	resolved time.Time
}

// round looks once, and does what the verdict says.
func (w *wait) round(ctx context.Context) (done bool, err error) {
	if time.Since(w.resolved) > resolveEvery {
		w.seeds, w.resolved = resolve(ctx, w.Peers), time.Now()
	}
	seen := look{client: w.client, here: w.here, seeds: w.seeds}.all(ctx)
	v := guard.Judge(w.here, seen)
	if words := fmt.Sprintf("%s: %s", v.Do, v.Words); words != w.said {
		w.say("%s", words)
		w.said = words
	}
	switch v.Do {
	case guard.Start:
		return true, nil
	case guard.Refuse:
		return true, refusal(v)
	case guard.Ask:
		w.ask(ctx, v, wire.Forced, again(seen, w.timeout))
	case guard.Takeover:
		w.ask(ctx, v, wire.Taken, askAgain)
	case guard.Follow:
		known, err := follow(w.memory, v.ID, v.Epoch)
		if err != nil {
			return true, err
		}
		w.here.Known = known
	case guard.Wait:
	}
	return false, nil
}

func refusal(v guard.Verdict) error {
	if v.DataMissing {
		return fmt.Errorf("%w: %s", ErrDataMissing, v.Words)
	}
	return fmt.Errorf("%w: %s", ErrRefused, v.Words)
}

// ask asks a replica to become the primary. What the others say next shows whether
// it did; an error is one more thing that may pass.
func (w *wait) ask(ctx context.Context, v guard.Verdict, mode wire.FailoverMode, spacing time.Duration) {
	if !w.asked.IsZero() && w.mode == mode && time.Since(w.asked) < spacing {
		return
	}
	w.asked, w.mode = time.Now(), mode
	w.say("asking %s at %s to become the primary (%s)", v.ID, v.Addr, mode)
	if err := w.client.Failover(ctx, wire.Target{Addr: v.Addr, ID: v.ID}, mode); err != nil {
		w.say("%v", err)
	}
}

// again is how long a failover that came to nothing keeps the next from success.
func again(seen []guard.Seen, timeout time.Duration) time.Duration {
	nodes := make(topology.Nodes, 0, len(seen))
	for _, s := range seen {
		nodes = append(nodes, topology.Node{Pod: topology.Pod{Name: s.ID, Addr: s.Addr}, Server: s.Server})
	}
	if len(nodes.Voters()) == 0 {
		return 4 * timeout
	}
	_, afterFailure := nodes.Spacing()
	return max(askAgain, afterFailure)
}
