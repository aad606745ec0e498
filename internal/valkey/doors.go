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

// Door opens the servers of one cluster.
type Door func(ctx context.Context, cluster read.Key) (Servers, error)

// Open is the door to servers that let everybody in.
func Open(servers Servers) Door {
	return func(context.Context, read.Key) (Servers, error) { return servers, nil }
}

// readAgain is how long Secrets are believed. Their change takes longer to reach pods.
const readAgain = 5 * time.Second

// doors logs on to the servers of clusters, each by its own Secrets.
type doors struct {
	cached read.Reader
	live   read.Live
	open   *wire.Client // of clusters without TLS and passwords

	mu     sync.Mutex
	locked map[read.Key]*door
}

// door is what is known of one cluster's Secrets.
type door struct {
	mu     sync.Mutex
	of     types.UID // of the cluster: another may have its name since, and other locks
	readAt time.Time
	keys   access.Keys
	client *wire.Client
}

// opened is a door with its keys in it.
type opened struct {
	*wire.Client
	keys access.Keys
	door *door
}

// Keys implements act.Keyed and observe.Keyed.
func (o opened) Keys() access.Keys { return o.keys }

// Renew forgets when the Secrets were read: somebody has just written one.
func (o opened) Renew() {
	o.door.mu.Lock()
	defer o.door.mu.Unlock()
	o.door.readAt = time.Time{}
}

func (d *doors) to(ctx context.Context, key read.Key) (Servers, error) {
	var c valkeyv1.ValkeyCluster
	if err := d.cached.Get(ctx, key, &c); err != nil {
		return nil, fmt.Errorf("read cluster: %w", err)
	}
	if c.Spec.TLS == nil && c.Spec.Auth == nil {
		return d.open, nil
	}
	d.mu.Lock()
	one := d.locked[key]
	if one == nil {
		one = &door{}
		d.locked[key] = one
	}
	d.mu.Unlock()
	return one.unlock(ctx, d.live, &c)
}

// unlock reads the Secrets again from time to time. A client lives as long as the
// authorities do: passwords are asked for with every connection.
func (o *door) unlock(ctx context.Context, live read.Live, c *valkeyv1.ValkeyCluster) (Servers, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.client != nil && o.of == c.UID && time.Since(o.readAt) < readAgain {
		return opened{o.client, o.keys, o}, nil
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
	return opened{o.client, o.keys, o}, nil
}

func (o *door) access(c *valkeyv1.ValkeyCluster) (a wire.Access) {
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
