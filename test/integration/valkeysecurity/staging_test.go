package valkeysecurity

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/act"
	machine "github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	lookEvery  = 100 * time.Millisecond
	probeEvery = 2 * time.Second
	fastest    = 300 * time.Millisecond // of the kubelets
	slower     = 150 * time.Millisecond // is each than the one before
)

// operator is the operator's own work on real servers: what it keeps, how it opens them, and
// the kubelets and probes around it.
type operator struct {
	*cluster
	given      access.Material // in the user's Secret
	stages     []access.Material
	client     *wire.Client
	verifiedBy access.Verification
	stop       context.CancelFunc
	done       sync.WaitGroup
	// restarted is for when the last server was started again: it is probed from then on.
	restarted func()

	probing  sync.Mutex
	probes   int
	failures []string
}

// operate begins to keep what the cluster has.
func (c *cluster) operate(t *testing.T) *operator {
	t.Helper()
	o := &operator{cluster: c, given: access.ParseMaterial(c.tls)}
	c.mu.Lock()
	c.tls = o.given.Files()
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	o.stop = cancel
	t.Cleanup(o.end)
	for i, s := range c.servers {
		o.done.Go(func() { o.every(ctx, fastest+time.Duration(i)*slower, s.deliver) })
		if i < len(c.servers)-1 { // the last is for tests to start again
			o.done.Go(func() { o.every(ctx, probeEvery, func() error { return o.probe(s) }) })
		}
	}
	last := c.servers[len(c.servers)-1]
	o.restarted = sync.OnceFunc(func() {
		o.done.Go(func() {
			o.every(ctx, probeEvery, func() error { _ = o.probe(last); return nil }) // it may not be there yet
		})
	})
	return o
}

func (o *operator) every(ctx context.Context, wait time.Duration, do func() error) {
	tick := time.NewTicker(wait)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := do(); err != nil && ctx.Err() == nil {
			o.probing.Lock()
			o.failures = append(o.failures, err.Error())
			o.probing.Unlock()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// probe is what a kubelet asks: with the files of the pod. While a link is broken on purpose
// a replica may say so. One that had no answer in time is asked again, as kubelets do before
// they believe it: a busy machine is slow. One that was refused is not.
func (o *operator) probe(s *server) error {
	o.probing.Lock()
	o.probes++
	o.probing.Unlock()
	said, err := s.tell("ready")
	for until := time.Now().Add(timeout.Command); err != nil && tooLate(said) && time.Now().Before(until); {
		said, err = s.tell("ready")
	}
	if err != nil && !lostLink(said) {
		return fmt.Errorf("%s: %w: %s", s.ip, err, said)
	}
	return nil
}

func (o *operator) end() {
	o.stop()
	o.done.Wait()
	if o.client != nil {
		o.client.Close()
	}
}

// Stage implements act.Vault. Clients that read the authorities of the stage have them.
func (o *operator) Stage(_ context.Context, seen, next access.Material) error {
	if err := next.Check(serverName, time.Now()); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if access.ParseMaterial(o.tls) != seen {
		return errors.New("another stage than was seen")
	}
	o.believed = x509.NewCertPool()
	o.believed.AppendCertsFromPEM([]byte(next.Authorities))
	files := next.Files()
	if files[access.BeforeFile] = o.tls[access.BeforeFile]; seen.Certificate != next.Certificate {
		files[access.BeforeFile] = seen.Certificate
	}
	o.tls, o.stages = files, append(o.stages, next)
	return nil
}

// EndPasswords implements act.Vault.
func (o *operator) EndPasswords(_ context.Context, seen access.Secrets) error {
	o.keep(seen.End())
	return nil
}

func (o *operator) keep(own access.Secrets) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.Copy(o.users, own.Own())
}

// keyed is a client that knows the keys it logs on by.
type keyed struct {
	*wire.Client
	keys access.Keys
}

func (k keyed) Keys() access.Keys { return k.keys }

// connect opens servers as the operator does: by the passwords and authorities that it keeps.
func (o *operator) connect(context.Context) (act.Keyed, error) {
	secrets, err := access.ParseSecrets(o.held())
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	keys := access.Keys{Secrets: secrets, Staged: access.ParseMaterial(o.tls), Before: o.tls[access.BeforeFile], Given: o.given}
	if by := keys.Verification(serverName); o.client == nil || o.verifiedBy != by {
		if o.client != nil {
			o.client.Close()
		}
		o.client = wire.NewClientWith(wire.Access{
			TLS: by.TLS(time.Now),
			Login: func() (string, []access.Password, error) {
				own, err := access.ParseOwn(o.held())
				return access.Operator, own.Logins(), err
			},
		})
		o.verifiedBy = by
	}
	return keyed{o.client, keys}, nil
}

// give lets the user's Secret hold certificates.
func (o *operator) give(m access.Material) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.given = m
}

// rotation is the work that a pass would begin now.
func (o *operator) rotation(t *testing.T) *act.Rotation {
	t.Helper()
	session, err := o.connect(t.Context())
	o.must(t, err)
	r := &act.Rotation{Connect: o.connect, Vault: o, Print: session.Keys().Print(), Every: lookEvery}
	dirs := map[string]string{}
	for _, s := range o.servers {
		if r.Partial = r.Partial || s.running == nil; s.running == nil {
			continue
		}
		at := s.named(t, o.client)
		dirs[s.ip] = s.tlsDir()
		r.Members = append(r.Members, machine.Versioned{Member: machine.Member{Pod: s.ip, Addr: at.Addr, ID: at.ID}, Version: o.version})
	}
	r.Dir = func(pod string) string { return dirs[pod] }
	return r
}

// rotate works until there is nothing left to do; what fails is begun anew, as a pass would.
// After some steps, if any, the process crashes, and a server starts again.
func (o *operator) rotate(t *testing.T, crashes int) (steps int) {
	t.Helper()
	last := o.servers[len(o.servers)-1] // it may be away
	until := time.Now().Add(timeout.Wait)
	for r := o.rotation(t); time.Now().Before(until); steps++ {
		done, err := r.Step(t.Context())
		if done {
			return steps
		}
		if steps == crashes-1 {
			last.kill()
			last.start(t)
			o.restarted()
		}
		if err != nil || steps == crashes-1 {
			r = o.rotation(t)
		}
	}
	t.Fatalf("not done in %s after %d steps\n%s", timeout.Wait, steps, o.story())
	return steps
}

// unharmed says that every probe was answered.
func (o *operator) unharmed(t *testing.T) {
	t.Helper()
	o.probing.Lock()
	defer o.probing.Unlock()
	t.Logf("%d probes, %d failed", o.probes, len(o.failures))
	if len(o.failures) > 0 || o.probes == 0 {
		t.Errorf("probes: %v", o.failures[:min(3, len(o.failures))])
	}
}
