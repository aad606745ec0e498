package valkey

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
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
	mu      sync.Mutex
	readAt  time.Time
	secrets access.Secrets
	roots   string // the authorities, as they were read
	client  *wire.Client
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
	if o.client != nil && time.Since(o.readAt) < readAgain {
		return o.client, nil
	}
	secrets, roots, err := readSecrets(ctx, live, c)
	if err != nil {
		return nil, err
	}
	o.readAt, o.secrets = time.Now(), secrets
	if o.client != nil && o.roots == roots {
		return o.client, nil
	}
	if o.client != nil {
		o.client.Close()
	}
	o.roots, o.client = roots, wire.NewClientWith(o.access(c, roots))
	return o.client, nil
}

func (o *door) access(c *valkeyv1.ValkeyCluster, roots string) (a wire.Access) {
	if c.Spec.Auth != nil {
		a.Login = func() (string, []access.Password, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			return access.Operator, o.secrets.Operator, nil
		}
	}
	if c.Spec.TLS != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(roots))
		a.TLS = &tls.Config{RootCAs: pool, ServerName: spec.ServerName(c), MinVersion: tls.VersionTLS12}
	}
	return a
}

var errNoKey = errors.New("a key of the Secret is missing")

// readSecrets reads all that is needed to log on.
func readSecrets(ctx context.Context, live read.Live, c *valkeyv1.ValkeyCluster) (secrets access.Secrets, roots string, err error) {
	if c.Spec.Auth != nil {
		var own corev1.Secret
		if err := live.Get(ctx, read.Key{Namespace: c.Namespace, Name: spec.AccessName(c)}, &own); err != nil {
			return secrets, "", fmt.Errorf("read passwords: %w", err)
		}
		files := map[string]string{}
		for name, text := range own.Data {
			files[name] = string(text)
		}
		if secrets, err = access.ParseSecrets(files); err != nil {
			return secrets, "", fmt.Errorf("read passwords from Secret %s: %w", own.Name, err)
		}
	}
	if t := c.Spec.TLS; t != nil {
		var s corev1.Secret
		if err := live.Get(ctx, read.Key{Namespace: c.Namespace, Name: t.SecretName}, &s); err != nil {
			return secrets, "", fmt.Errorf("read authorities: %w", err)
		}
		if roots = string(s.Data[valkeyv1.AuthorityKey]); roots == "" {
			return secrets, "", fmt.Errorf("read %s from Secret %s: %w", valkeyv1.AuthorityKey, s.Name, errNoKey)
		}
	}
	return secrets, roots, nil
}
