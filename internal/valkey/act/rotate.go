package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Keyed is a client that knows the keys it logs on by.
type Keyed interface {
	wire.Accessor
	Keys() access.Keys
}

// renew has the next session read the Secrets again, if this one remembers them.
func renew(session Keyed) {
	if d, remembers := session.(interface{ Renew() }); remembers {
		d.Renew()
	}
}

const (
	// lookEvery is how often servers are looked at while something is waited for.
	lookEvery = time.Second
	// rotatedWithin is how long all of it may take before somebody should look. Each stage of
	// certificates, and each change of passwords, waits until all pods have its files.
	rotatedWithin = 20 * time.Minute
)

// applyAccess begins to bring the access to servers to what the Secrets say.
func (a Cluster) applyAccess(c *valkeyv1.ValkeyCluster, e cluster.ApplyAccess) error {
	key, what := client.ObjectKeyFromObject(c), cluster.AccessWork(e.Print, e.Starts)
	r := &Rotation{
		Connect: func(ctx context.Context) (Keyed, error) { return a.keyed(ctx, key) },
		Vault:   a.vault(c), Print: e.Print, Proven: e.Loaded, Members: e.At, Partial: e.Partial, Every: lookEvery,
		Dir: func(string) string { return spec.TLSPath },
	}
	return a.Access.Ensure(key, what, kube.WithoutResult(r.Step))
}

func (a Cluster) keyed(ctx context.Context, key read.Key) (Keyed, error) {
	servers, err := a.Connect(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("log on to servers: %w", err)
	}
	keyed, is := servers.(Keyed)
	if !is {
		return nil, fmt.Errorf("apply access: %w", errSince)
	}
	return keyed, nil
}

// Rotation is one change of access under way. It decides by what it sees, so it may be
// stopped after any step, and another one goes on.
type Rotation struct {
	Connect func(ctx context.Context) (Keyed, error)
	Vault   Vault
	Print   string // of the keys that it leads to
	Proven  bool   // links are known to work with the certificates that are given
	Members []cluster.Versioned
	Partial bool                    // members are not all: only what can do without the others is done
	Dir     func(pod string) string // where a server finds its certificates
	Every   time.Duration           // how often it looks while it waits

	began time.Time
	// Which links were broken to try passwords, and certificates.
	passwords, certificates *access.Reconnection
}

// Step looks at all servers, and tells them what comes next.
func (r *Rotation) Step(ctx context.Context) (done bool, err error) {
	if r.began.IsZero() {
		r.began = time.Now()
	}
	servers, err := r.Connect(ctx)
	if err != nil {
		return false, err
	}
	if servers.Keys().Print() != r.Print {
		return false, fmt.Errorf("apply access: %w", errSince)
	}
	acted, doubt, err := r.next(ctx, servers)
	switch {
	case err != nil:
		return false, err
	case acted:
		return false, nil
	case doubt == "":
		return true, nil
	case time.Since(r.began) > rotatedWithin:
		return false, &fsm.Error{Class: fsm.Transient, Err: fmt.Errorf("apply access: %s", doubt), Say: "Passwords and certificates are not applied yet: " + doubt + "."}
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(r.Every):
		return false, nil
	}
}

// next does all that can be done now. Passwords and certificates do not wait for each other.
func (r *Rotation) next(ctx context.Context, servers Keyed) (acted bool, doubt string, err error) {
	keys := servers.Keys()
	world, err := r.look(ctx, servers)
	if err != nil {
		return false, "", err
	}
	if r.Partial {
		return r.renew(ctx, servers, world)
	}
	if len(keys.Secrets.Operator) > 0 {
		steps, waits := access.Next(world)
		if acted, doubt, err = r.carry(ctx, servers, steps, &r.passwords); acted || err != nil {
			return acted, doubt, err
		}
		if waits == "" && doubt == "" && keys.Secrets.Changing() {
			defer renew(servers)
			return true, "", r.Vault.EndPasswords(ctx, keys.Secrets)
		}
		doubt = waits
	}
	world.Reconnected = r.certificates
	steps, stage, waits := access.NextCertificates(world)
	if stage != nil {
		defer renew(servers)
		return true, "", r.Vault.Stage(ctx, keys.Staged, *stage)
	}
	acted, refused, err := r.carry(ctx, servers, steps, &r.certificates)
	for _, waits := range []string{refused, waits} {
		if waits != "" {
			doubt = waits
		}
	}
	return acted, doubt, err
}

// renew does what can be done about certificates without all servers.
func (r *Rotation) renew(ctx context.Context, servers Keyed, world access.World) (acted bool, doubt string, err error) {
	steps, stage := access.Renewal(world)
	if stage != nil {
		defer renew(servers)
		return true, "", r.Vault.Stage(ctx, world.Staged, *stage)
	}
	return r.carry(ctx, servers, steps, &r.certificates)
}

// look asks all servers who may log on.
func (r *Rotation) look(ctx context.Context, servers Keyed) (access.World, error) {
	keys := servers.Keys()
	w := access.World{Secrets: keys.Secrets, Staged: keys.Staged, Given: keys.Given, Proven: r.Proven, Ended: keys.Staged.Ended(time.Now()),
		Nodes: make([]access.Node, len(r.Members)), Reconnected: r.passwords}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i, m := range r.Members {
		g.Go(func() error {
			n, err := lookAt(ctx, servers, m)
			n.Dir = r.Dir(m.Pod)
			w.Nodes[i] = n
			return classify(m.Pod, err)
		})
	}
	return w, g.Wait()
}

// lookAt asks one server who may log on, and what they may do.
func lookAt(ctx context.Context, servers Keyed, m cluster.Versioned) (n access.Node, err error) {
	n = access.Node{Name: m.Pod, Version: m.Version}
	secrets := servers.Keys().Secrets
	if n.Server, err = servers.AskAccess(ctx, target(m.Member)); err != nil || len(secrets.Operator) == 0 {
		return n, err
	}
	users := slices.DeleteFunc(secrets.Users(m.Version), func(u access.User) bool {
		_, there := n.Server.Accounts[u.Name]
		return !there // of nobody nothing can be asked
	})
	askew, err := servers.Try(ctx, target(m.Member), access.Probes(m.Version, users))
	for _, p := range askew {
		n.Askew = append(n.Askew, p.User)
	}
	return n, err
}

// carry gives commands to servers, and remembers the link that one of them breaks. That a
// server has not got the files yet which it is to load is a doubt, and no error.
func (r *Rotation) carry(ctx context.Context, servers Keyed, steps []access.Step, broken **access.Reconnection) (acted bool, doubt string, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	var mu sync.Mutex
	for _, s := range steps {
		if b, is := s.(access.Reconnect); is {
			*broken = b.Remember()
		}
		g.Go(func() error {
			err := wire.Carry(ctx, servers, r.target(s.At()), s)
			_, loads := s.(access.LoadCertificates)
			mu.Lock()
			defer mu.Unlock()
			if loads && errors.Is(err, wire.ErrRefused) {
				doubt = "changed certificates to reach the files of " + s.At()
				return nil
			}
			acted = true
			return classify(s.At(), err)
		})
	}
	err = g.Wait()
	return acted && doubt == "", doubt, err
}

func (r *Rotation) target(pod string) (at wire.Target) {
	for _, m := range r.Members {
		if m.Pod == pod {
			at = target(m.Member)
		}
	}
	return at
}
