package valkey

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Connector logs on to the servers of clusters.
type Connector interface {
	Connect(ctx context.Context, cluster read.Key) (Servers, error)
	// Forget lets go of what is kept for a cluster that is gone: connections, and Secrets.
	Forget(cluster read.Key)
}

// ConnectorFunc is a Connector that keeps nothing.
type ConnectorFunc func(ctx context.Context, cluster read.Key) (Servers, error)

// Connect implements Connector.
func (f ConnectorFunc) Connect(ctx context.Context, cluster read.Key) (Servers, error) {
	return f(ctx, cluster)
}

// Forget implements Connector.
func (ConnectorFunc) Forget(read.Key) {}

// ConnectTo returns a Connector that always leads to these servers, such as a fake.
func ConnectTo(servers Servers) Connector {
	return ConnectorFunc(func(context.Context, read.Key) (Servers, error) { return servers, nil })
}

// readAgain is how long Secrets are believed. Their change takes longer to reach pods.
const readAgain = 5 * time.Second

// clients holds one client per cluster, which logs on by that cluster's Secrets.
type clients struct {
	cached read.Reader
	live   read.Live
	plain  *wire.Client // of clusters without TLS and passwords

	mu      sync.Mutex
	secured map[read.Key]*clusterClient
}

// clusterClient is the client of one cluster, and the Secrets that it was made from.
type clusterClient struct {
	mu     sync.Mutex
	gone   bool      // whoever still has it must not log on again
	of     types.UID // of the cluster: another may have its name since, and other Secrets
	readAt time.Time
	keys   access.Keys
	client *wire.Client
}

// session is a client together with the keys that it logs on by.
type session struct {
	*wire.Client
	keys access.Keys
	of   *clusterClient
}

// Keys implements act.Keyed and observe.Keyed.
func (o session) Keys() access.Keys { return o.keys }

// Renew forgets when the Secrets were read: somebody has just written one.
func (o session) Renew() {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.of.readAt = time.Time{}
}

func newClients(cached read.Reader, live read.Live) *clients {
	return &clients{cached: cached, live: live, plain: wire.NewClient(), secured: map[read.Key]*clusterClient{}}
}

// Connect implements Connector.
func (d *clients) Connect(ctx context.Context, key read.Key) (Servers, error) {
	var c valkeyv1.ValkeyCluster
	if err := d.cached.Get(ctx, key, &c); err != nil {
		return nil, fmt.Errorf("read cluster: %w", err)
	}
	if c.Spec.TLS == nil && c.Spec.Auth == nil {
		d.Forget(key) // if it had them before
		return d.plain, nil
	}
	one, isNew := d.of(key)
	if isNew {
		// The cluster may have gone, and been forgotten, since it was read.
		if err := d.cached.Get(ctx, key, &c); err != nil {
			d.Forget(key)
			return nil, fmt.Errorf("read cluster: %w", err)
		}
	}
	return one.logIn(ctx, d.live, &c)
}

// of is the client of a cluster, and whether it was not known before.
func (d *clients) of(key read.Key) (one *clusterClient, isNew bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one = d.secured[key]; one != nil {
		return one, false
	}
	one = &clusterClient{}
	d.secured[key] = one
	return one, true
}

// Forget implements Connector. It does not wait for who logs on just now.
func (d *clients) Forget(key read.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one := d.secured[key]; one != nil {
		delete(d.secured, key)
		go one.close()
	}
}

// close ends connections and drops Secrets, for good.
func (o *clusterClient) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.client != nil {
		o.client.Close()
	}
	o.gone, o.client, o.keys = true, nil, access.Keys{}
}

// logIn reads the Secrets again from time to time. A client lives as long as the
// authorities do: passwords are asked for with every connection.
func (o *clusterClient) logIn(ctx context.Context, live read.Live, c *valkeyv1.ValkeyCluster) (Servers, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone {
		return nil, fmt.Errorf("log on to cluster %s: it is gone, or was replaced", c.Name)
	}
	if o.client != nil && o.of == c.UID && time.Since(o.readAt) < readAgain {
		return session{o.client, o.keys, o}, nil
	}
	keys, err := observe.Keys(ctx, live, c)
	if err != nil {
		return nil, err
	}
	if o.client != nil && (o.of != c.UID || o.keys.Verification("") != keys.Verification("")) {
		o.client.Close()
		o.client = nil
	}
	o.readAt, o.keys, o.of = time.Now(), keys, c.UID
	if o.client == nil {
		o.client = wire.NewClientWith(o.access(c))
	}
	return session{o.client, o.keys, o}, nil
}

func (o *clusterClient) access(c *valkeyv1.ValkeyCluster) (a wire.Access) {
	if c.Spec.Auth != nil {
		a.Login = func() (string, []access.Password, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			return access.Operator, o.keys.Secrets.Logins(), nil
		}
	}
	if c.Spec.TLS != nil {
		a.TLS = o.keys.Verification(spec.ServerName(c)).TLS(time.Now)
	}
	return a
}
