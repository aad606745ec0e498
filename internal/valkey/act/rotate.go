package act

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Keyed is a door with its keys in it.
type Keyed interface {
	wire.Accessor
	Keys() access.Keys
}

const (
	// propagates is how long it may take until pods have the files of a changed Secret.
	propagates = 2 * time.Minute
	// reloadEvery is how often servers are told to read their certificates meanwhile.
	reloadEvery = 5 * time.Second
	// rotatedWithin is how long all of it may take before somebody should look.
	rotatedWithin = 5 * time.Minute
)

// applyAccess begins to bring the access to servers to what the Secrets say.
func (a Cluster) applyAccess(key read.Key, e cluster.ApplyAccess) error {
	keyed, is := a.servers.(Keyed)
	if !is || keyed.Keys().Print() != e.Print {
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply access: the Secrets were changed since")}
	}
	key.Name = cluster.AccessWork(key.Name, e.Print)
	if work := a.Access.Work(key); work.State == read.WorkEnded && work.Err != nil {
		a.Access.Forget(key)
		return work.Err
	}
	r := &rotation{servers: keyed, keys: keyed.Keys(), members: e.At, began: time.Now()}
	if e.Loaded {
		r.began = r.began.Add(-propagates)
	}
	a.Access.Begin(key, r.step)
	return nil
}

// rotation is one change of access under way.
type rotation struct {
	servers     Keyed
	keys        access.Keys
	members     []cluster.Versioned
	began       time.Time
	reconnected *access.Reconnection
}

// step looks at all servers, and tells them what comes next.
func (r *rotation) step(ctx context.Context) (done bool, err error) {
	doubt, err := r.passwords(ctx)
	if err == nil && doubt == "" {
		doubt, err = r.certificates(ctx)
	}
	switch {
	case err != nil:
		return false, err
	case doubt == "":
		return true, nil
	case time.Since(r.began) > propagates+rotatedWithin:
		return false, &fsm.Error{Class: fsm.Transient, Err: fmt.Errorf("apply access: %s", doubt), Say: doubt}
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(reloadEvery / 5):
		return false, nil
	}
}

const told = "servers were told"

// passwords does the next steps of a change of passwords.
func (r *rotation) passwords(ctx context.Context) (doubt string, err error) {
	if len(r.keys.Secrets.Operator) == 0 {
		return "", nil
	}
	world, err := r.look(ctx)
	if err != nil {
		return "", err
	}
	steps, doubt := access.Next(world)
	if len(steps) == 0 {
		return doubt, nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for _, s := range steps {
		if broken, is := s.(access.Reconnect); is {
			r.reconnected = broken.Remember()
		}
		g.Go(func() error { return r.tell(ctx, s) })
	}
	return told, g.Wait()
}

// look asks all servers who may log on.
func (r *rotation) look(ctx context.Context) (access.World, error) {
	w := access.World{Secrets: r.keys.Secrets, Nodes: make([]access.Node, len(r.members)), Reconnected: r.reconnected}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i, m := range r.members {
		g.Go(func() error {
			n := access.Node{Name: m.Pod, Version: m.Version}
			var err error
			if n.Server, err = r.servers.AskAccess(ctx, target(m.Member)); err != nil {
				return classify(m.Pod, err)
			}
			askew, err := r.servers.Try(ctx, target(m.Member), access.Probes(m.Version, r.keys.Secrets.Users(m.Version)))
			if err != nil {
				return classify(m.Pod, err)
			}
			for _, p := range askew {
				n.Askew = append(n.Askew, p.User)
			}
			w.Nodes[i] = n
			return nil
		})
	}
	return w, g.Wait()
}

// tell gives one command.
func (r *rotation) tell(ctx context.Context, step access.Step) error {
	var at wire.Target
	for _, m := range r.members {
		if m.Pod == step.At() {
			at = target(m.Member)
		}
	}
	return classify(step.At(), wire.Carry(ctx, r.servers, at, step))
}

// certificates lets servers read their files again until all show what they should, and
// for as long as files may be on their way: that authorities were changed cannot be seen.
func (r *rotation) certificates(ctx context.Context) (doubt string, err error) {
	if r.keys.Certificate == "" {
		return "", nil
	}
	for _, m := range r.members {
		shown, err := r.servers.Certificate(ctx, target(m.Member))
		if err != nil {
			return "", classify(m.Pod, err)
		}
		if shown != r.keys.Certificate {
			doubt = m.Pod + " shows another certificate than its Secret holds"
		}
		if err := r.servers.ReloadCertificates(ctx, target(m.Member), spec.TLSPath, access.FilesOf("")); err != nil {
			return "", classify(m.Pod, err)
		}
	}
	if left := propagates - time.Since(r.began); doubt == "" && left > 0 {
		doubt = "the files of a changed Secret to reach the pods"
	}
	return doubt, nil
}
