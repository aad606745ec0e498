package valkey

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

const (
	probeEvery  = time.Millisecond
	probeWithin = time.Second // an answer that takes longer is none
)

// probe writes one key of one shard, again and again, and measures for how long no write was acknowledged.
type probe struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	acked   time.Time // when the last one was
	by      string    // the server that did
	longest time.Duration
	moved   time.Duration
}

// signed writes, and says which server has done it: a pause in which that changes is a failover.
var signed = valkey.NewLuaScript(`redis.call('SET', KEYS[1], ARGV[1]) return redis.call('CLUSTER', 'MYID')`)

// startProbe probes the shard whose primary listens there.
func startProbe(t *testing.T, primary string) *probe {
	t.Helper()
	key := keyOf(t, primary)
	client, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: []string{primary}, DisableCache: true, ConnWriteTimeout: probeWithin,
		Dialer: net.Dialer{Timeout: probeWithin, KeepAlive: probeWithin},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &probe{cancel: cancel, acked: time.Now()}
	t.Cleanup(func() { p.stop(); client.Close() })
	p.done.Go(func() {
		tick := time.NewTicker(probeEvery)
		defer tick.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			p.write(client, key, n)
			<-tick.C
		}
	})
	return p
}

func (p *probe) write(client valkey.Client, key string, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), probeWithin)
	defer cancel()
	by, err := signed.Exec(ctx, client, []string{key}, []string{strconv.Itoa(n)}).ToString()
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pause := time.Since(p.acked)
	p.longest = max(p.longest, pause)
	if p.by != "" && p.by != by {
		p.moved = max(p.moved, pause)
	}
	p.acked, p.by = time.Now(), by
}

// failover is the pause between the last write that the old primary acknowledged and the first of the new one, since
// the last lap; 0 if there was none.
func (p *probe) failover() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

// lap is the longest time without an acknowledged write since the last lap.
func (p *probe) lap() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	longest := max(p.longest, time.Since(p.acked))
	p.longest, p.moved = 0, 0
	return longest.Round(time.Millisecond)
}

func (p *probe) stop() {
	p.cancel()
	p.done.Wait()
}

// keyOf finds a key that a primary owns.
func keyOf(t *testing.T, primary string) string {
	t.Helper()
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{primary}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range 1000 {
		key := fmt.Sprintf("probe-%d", i)
		if client.Do(t.Context(), client.B().Set().Key(key).Value("").Build()).Error() == nil {
			return key
		}
	}
	t.Fatalf("%s owns no key", primary)
	return ""
}

// addrOf is where the server of a pod listens.
func (s *stage) addrOf(vkc *valkeyv1.ValkeyCluster, pod string) string {
	s.T.Helper()
	return net.JoinHostPort(s.pods(vkc)[pod].Status.PodIP, strconv.Itoa(valkeyv1.ClientPort))
}
