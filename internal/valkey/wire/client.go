package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/valkey-io/valkey-go"
)

const (
	patience = time.Second      // for one server to connect, and to answer
	idle     = 30 * time.Second // before a connection, and then its client, is let go
)

// Client asks and tells real servers. It keeps one client per address, each of
// which speaks to that server alone and follows no redirect.
type Client struct {
	dial   net.Dialer
	access Access

	mu      sync.Mutex
	clients map[route]*kept
	swept   time.Time
}

// route is where connections lead: to whoever is at an address, or to the server there that bears a mark.
type route struct{ addr, mark string }

type kept struct {
	valkey.Client
	used time.Time
	busy int
}

var (
	_ Reader  = (*Client)(nil)
	_ Writer  = (*Client)(nil)
	_ Watcher = (*Client)(nil)
)

// NewClient returns a client without connections.
func NewClient() *Client {
	return &Client{dial: net.Dialer{Timeout: patience}, clients: map[route]*kept{}}
}

// Patient gives servers another time to connect and to answer than the second after which they
// count as unreachable. It is called before the client is used.
func (c *Client) Patient(within time.Duration) *Client {
	c.dial.Timeout = within
	return c
}

// Close lets all connections go.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for to, k := range c.clients {
		delete(c.clients, to)
		k.Close()
	}
}

// do sends the commands to one server at once and returns its replies. The first
// error of any of them is the error of all.
func (c *Client) do(ctx context.Context, at Target, commands ...[]string) ([]valkey.ValkeyMessage, error) {
	return c.doWithin(ctx, at, c.dial.Timeout, commands)
}

// doWithin is do for commands that may take longer than an answer does.
func (c *Client) doWithin(ctx context.Context, at Target, within time.Duration, commands [][]string) ([]valkey.ValkeyMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	k, err := c.take(route{at.Addr, at.Mark})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", at.Addr, classify(err))
	}
	defer c.release(k)
	batch := make(valkey.Commands, 0, len(commands))
	for _, words := range commands {
		// The client has a limit of its own for all but blocking commands.
		batch = append(batch, k.B().Arbitrary(words...).Blocking())
	}
	replies := make([]valkey.ValkeyMessage, 0, len(commands))
	for i, result := range k.DoMulti(ctx, batch...) {
		reply, err := result.ToMessage()
		if err != nil {
			return nil, fmt.Errorf("send %s to %s: %w", commands[i][0], at.Addr, classify(err))
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

// classify gives the client's error its type. What is no reply of the server is
// silence: the command may have been carried out or not.
func classify(err error) error {
	if errors.Is(err, ErrDenied) || errors.Is(err, ErrMalformed) || errors.Is(err, ErrOtherServer) {
		return err // by whoever logged on
	}
	if reply := (*valkey.ValkeyError)(nil); errors.As(err, &reply) {
		return refusal(reply.Error())
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: %w: %w", ErrUnreachable, ErrConnectionRefused, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// take returns the client for a server, and connects if there is none.
func (c *Client) take(to route) (*kept, error) {
	c.mu.Lock()
	c.sweep(time.Now())
	k, known := c.clients[to]
	if known {
		k.busy++
		c.mu.Unlock()
		return k, nil
	}
	c.mu.Unlock()
	made, err := valkey.NewClient(c.access.marked(to.mark).Apply(options(to.addr, c.dial))) // connects, so not under the lock
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, known = c.clients[to]; known {
		go made.Close()
	} else {
		k = &kept{Client: made}
		c.clients[to] = k
	}
	k.busy++
	return k, nil
}

func (c *Client) release(k *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.busy--
	k.used = time.Now()
}

// sweep lets go of clients that were not used for a while: pods come and go, and
// with them addresses.
func (c *Client) sweep(now time.Time) {
	if now.Sub(c.swept) < idle {
		return
	}
	c.swept = now
	for to, k := range c.clients {
		if k.busy == 0 && now.Sub(k.used) > 2*idle {
			delete(c.clients, to)
			go k.Close()
		}
	}
}

// sideBySide is how many commands one server is given at a time, each on a connection of
// its own. As a rule it is one.
const sideBySide = 16

// options are for a few short questions to each of very many servers: no
// goroutine, no large buffer and no cache per connection.
func options(addr string, dial net.Dialer) valkey.ClientOption {
	return valkey.ClientOption{
		InitAddress:           []string{addr},
		Dialer:                dial,
		ForceSingleClient:     true,
		AlwaysRESP2:           true, // the newer protocol marks texts as such, and nothing asked here gains by it
		DisableRetry:          true,
		DisableCache:          true,
		DisableAutoPipelining: true,
		BlockingPoolSize:      sideBySide,
		BlockingPoolCleanup:   idle,
		ConnWriteTimeout:      dial.Timeout,
		ReadBufferEachConn:    1 << 14,
		WriteBufferEachConn:   1 << 12,
		RingScaleEachConn:     1,
		ClientName:            "statecraft",
		ClientSetInfo:         valkey.DisableClientSetInfo,
	}
}
