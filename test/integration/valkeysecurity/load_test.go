package valkeysecurity

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	writeEvery = 5 * time.Millisecond
	comeEvery  = 50 * time.Millisecond
)

// load is an application at work: one client that writes all the time, transactions among
// it, and others that come, ask once and go.
type load struct {
	*cluster
	client valkey.Client
	stop   context.CancelFunc
	done   sync.WaitGroup

	mu           sync.Mutex
	acknowledged []string
	came         int
	failures     []string
	gap          time.Duration // the longest between two writes that were acknowledged
}

// options are those of the application's clients: what its Secret says now. They wait for slow servers: a
// request that fails is one that was refused.
func (c *cluster) options() valkey.ClientOption {
	return valkey.ClientOption{
		TLSConfig: c.trust(), DisableCache: true,
		Dialer: net.Dialer{Timeout: timeout.Command}, ConnWriteTimeout: timeout.Command,
		AuthCredentialsFn: func(valkey.AuthCredentialsContext) (valkey.AuthCredentials, error) {
			newest, _, _ := strings.Cut(c.held()[access.ApplicationPasswordFile], "\n")
			return valkey.AuthCredentials{Username: application, Password: newest}, nil
		},
	}
}

func (c *cluster) startLoad(t testing.TB) *load {
	t.Helper()
	option := c.options()
	for _, s := range c.servers {
		option.InitAddress = append(option.InitAddress, s.addr())
	}
	client, err := valkey.NewClient(option)
	c.must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{cluster: c, client: client, stop: cancel}
	t.Cleanup(l.end)
	l.done.Go(func() { l.repeat(ctx, writeEvery, l.write) })
	l.done.Go(func() { l.repeat(ctx, comeEvery, l.come) })
	return l
}

func (l *load) repeat(ctx context.Context, every time.Duration, do func(context.Context, int) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		if err := do(ctx, n); err != nil && ctx.Err() == nil {
			l.mu.Lock()
			l.failures = append(l.failures, fmt.Sprintf("%s: %v", time.Now().Format("05.000"), err))
			l.mu.Unlock()
		}
		<-tick.C
	}
}

// write writes a key; every tenth in a transaction.
func (l *load) write(ctx context.Context, n int) error {
	key, began := fmt.Sprintf("{%d}", n), time.Now()
	set := l.client.B().Set().Key(key).Value("v").Build()
	if n%10 == 0 {
		if err := l.transact(ctx, key); err != nil {
			return err
		}
	}
	if err := l.client.Do(ctx, set).Error(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged, l.gap = append(l.acknowledged, key), max(l.gap, time.Since(began))
	return nil
}

// transact writes in a transaction. That one follows no redirect, so one that meets a slot
// on the move is given up without a change, and is no failure.
func (l *load) transact(ctx context.Context, key string) error {
	err := l.client.Dedicated(func(c valkey.DedicatedClient) error {
		replies := c.DoMulti(ctx, c.B().Multi().Build(), c.B().Set().Key(key+"a").Value("v").Build(), c.B().Incr().Key(key+"b").Build(), c.B().Exec().Build())
		return replies[3].Error()
	})
	if err != nil && strings.HasPrefix(err.Error(), "EXECABORT") {
		return nil
	}
	return err
}

// come opens a connection of its own: passwords and certificates are looked at only then.
func (l *load) come(ctx context.Context, _ int) error {
	option := l.options()
	option.InitAddress = []string{l.servers[rand.IntN(len(l.servers)-1)].addr()} // the last is for tests to start again
	option.ForceSingleClient, option.DisableRetry, option.AlwaysRESP2 = true, true, true
	c, err := valkey.NewClient(option)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", option.InitAddress[0], err)
	}
	defer c.Close()
	l.mu.Lock()
	l.came++
	l.mu.Unlock()
	return c.Do(ctx, c.B().Ping().Build()).Error()
}

func (l *load) end() {
	l.stop()
	l.done.Wait()
}

// check says that every request succeeded, and that what was acknowledged is there.
func (l *load) check(t testing.TB) {
	t.Helper()
	l.end()
	defer l.client.Close()
	t.Logf("%d writes acknowledged, %d clients came, %d requests failed, the longest write took %s",
		len(l.acknowledged), l.came, len(l.failures), l.gap.Round(time.Millisecond))
	if len(l.failures) > 0 || len(l.acknowledged) == 0 || l.came == 0 {
		t.Errorf("%d requests failed: %s", len(l.failures), strings.Join(l.failures[:min(5, len(l.failures))], "; "))
	}
	lost := 0
	for _, key := range l.acknowledged {
		if err := l.client.Do(t.Context(), l.client.B().Get().Key(key).Build()).Error(); err != nil {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d writes that were acknowledged are lost", lost)
	}
}
