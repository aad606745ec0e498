package edge

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/act"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/flightctl"
	"github.com/statecraft-dev/statecraft/internal/edge/observe"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// FlightControl is the port to the Flight Control of a pool, real or fake.
type FlightControl interface {
	observe.Fleet
	act.Devices
}

// Connector finds the Flight Control of a pool. fleet.ErrDenied is of credentials that are missing.
type Connector func(ctx context.Context, p *edgev1.EdgePool) (FlightControl, error)

// The keys of the Secret with the credentials of a pool.
const (
	tokenKey     = "token"
	authorityKey = "ca.crt"
)

// credentialsFor is how long credentials are good before their Secret is read again: it is not watched.
const credentialsFor = 30 * time.Second

// connections are the clients of pools. A client is kept while its server and its credentials stay as they are.
type connections struct {
	live      read.Live
	namespace string
	now       func() time.Time

	mu  sync.Mutex
	all map[string]*connection // by pool
}

type connection struct {
	of          edgev1.FlightControl
	credentials map[string][]byte
	readAt      time.Time
	transport   *http.Transport
	client      *flightctl.Client
}

// connect is the Connector to real servers.
func connect(e kube.Env) Connector {
	c := &connections{live: e.LiveReader(), namespace: e.Namespace, now: e.Now, all: map[string]*connection{}}
	return c.of
}

func (c *connections) of(ctx context.Context, p *edgev1.EdgePool) (FlightControl, error) {
	c.mu.Lock()
	known := c.all[p.Name]
	c.mu.Unlock()
	if known != nil && known.of == p.Spec.Server && c.now().Sub(known.readAt) < credentialsFor {
		return known.client, nil
	}
	secret, began := corev1.Secret{}, c.now()
	name := p.Spec.Server.CredentialsSecret
	err := c.live.Get(ctx, read.Key{Namespace: c.namespace, Name: name}, &secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: Secret %s/%s does not exist", fleet.ErrDenied, c.namespace, name)
	case err != nil:
		return nil, fmt.Errorf("read Secret %s/%s: %w", c.namespace, name, err)
	case len(secret.Data[tokenKey]) == 0:
		return nil, fmt.Errorf("%w: Secret %s/%s has no key %s", fleet.ErrDenied, c.namespace, name, tokenKey)
	}
	if known != nil && known.of == p.Spec.Server && maps.EqualFunc(known.credentials, secret.Data, slices.Equal) {
		c.keep(p.Name, &connection{known.of, known.credentials, began, known.transport, known.client})
		return known.client, nil
	}
	made, err := newConnection(p.Spec.Server, secret.Data, began, c.now)
	if err != nil {
		return nil, fmt.Errorf("%w: Secret %s/%s: %w", fleet.ErrDenied, c.namespace, name, err)
	}
	c.keep(p.Name, made)
	return made.client, nil
}

func (c *connections) keep(pool string, made *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was := c.all[pool]; was != nil && was.transport != made.transport {
		was.transport.CloseIdleConnections()
	}
	c.all[pool] = made
}

var errNoCertificate = errors.New(authorityKey + " has no certificate")

func newConnection(of edgev1.FlightControl, credentials map[string][]byte, began time.Time, now func() time.Time) (*connection, error) {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}
	if ca := credentials[authorityKey]; len(ca) > 0 {
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errNoCertificate
		}
	}
	token := strings.TrimSpace(string(credentials[tokenKey]))
	client := flightctl.New(of.URL, transport, func() (string, error) { return token, nil }, now)
	return &connection{of, credentials, began, transport, client}, nil
}
