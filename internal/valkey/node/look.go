package node

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/node/guard"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

const (
	// few are enough to learn from how things are: everyone knows everyone.
	few = 8
	// atOnce is how many are asked at the same time.
	atOnce = 32
)

// look is one look at those who may have something to say about a server.
type look struct {
	client wire.Reader
	here   guard.Here
	seeds  []string
}

// all asks those it knows of, and then those that they name.
func (l look) all(ctx context.Context) []guard.Seen {
	first := l.known()
	seen := l.ask(ctx, first)
	var second []string
	for _, s := range seen {
		second = append(second, l.named(s)...)
	}
	second = slices.DeleteFunc(second, func(addr string) bool { return slices.Contains(first, addr) })
	for _, s := range l.ask(ctx, second) {
		if !slices.ContainsFunc(seen, func(t guard.Seen) bool { return t.ID == s.ID }) {
			seen = append(seen, s)
		}
	}
	slices.SortFunc(seen, func(a, b guard.Seen) int { return cmp.Compare(a.ID, b.ID) })
	return seen
}

// owned says that this server had slots, so that it matters what every voter thinks: whoever
// else has them by now, and by whose vote.
func (l look) owned() bool {
	k := l.here.Known
	return k != nil && k.Self.Follows == "" && k.Self.Slots != ""
}

// known are addresses to begin with.
func (l look) known() (addrs []string) {
	if k := l.here.Known; k != nil {
		for _, p := range k.Peers {
			voter := p.Follows == "" && p.Slots != ""
			if p.Follows == k.Self.ID || len(addrs) < few || voter && l.owned() {
				addrs = append(addrs, p.Addr)
			}
		}
	}
	return append(addrs, l.seeds[:min(few, len(l.seeds))]...)
}

// named are addresses of those who matter by the words of one that was seen: replicas
// of this server, replicas that look for another one here, voters, and wherever they see
// this server itself.
func (l look) named(s guard.Seen) (addrs []string) {
	here := map[string]bool{}
	if l.here.Known != nil {
		here[l.here.Known.Self.ID] = true
	}
	for _, p := range s.View {
		if p.Addr == l.here.Addr {
			here[p.ID] = true
		}
	}
	for _, p := range s.View {
		own := l.here.Known != nil && p.ID == l.here.Known.Self.ID
		if own || here[p.Follows] || l.owned() && p.Slots != "" {
			addrs = append(addrs, p.Addr)
		}
	}
	return addrs
}

// ask asks many at once. Who does not answer is not seen.
func (l look) ask(ctx context.Context, addrs []string) []guard.Seen {
	addrs = slices.DeleteFunc(slices.Clone(addrs), func(addr string) bool { return addr == "" || addr == l.here.Addr })
	slices.Sort(addrs)
	var seen []guard.Seen
	for addr, server := range askAll(ctx, l.client, slices.Compact(addrs)) {
		seen = append(seen, guard.Seen{Addr: addr, Server: server})
	}
	return seen
}

// askAll returns the answers of those that gave one, by address.
func askAll(ctx context.Context, client wire.Reader, addrs []string) map[string]*topology.Server {
	var (
		mu      sync.Mutex
		group   sync.WaitGroup
		slot    = make(chan struct{}, atOnce)
		answers = map[string]*topology.Server{}
	)
	for _, addr := range addrs {
		group.Go(func() {
			slot <- struct{}{}
			defer func() { <-slot }()
			if s, err := client.Ask(ctx, addr); err == nil {
				mu.Lock()
				defer mu.Unlock()
				answers[addr] = s
			}
		})
	}
	group.Wait()
	return answers
}

// resolveWithin is how long names may keep a server from starting: they help to find
// others, and a cluster whose names do not work must still start.
const resolveWithin = time.Second

// resolve turns names into all addresses that they have now. A name that has none
// yet is no error: it may be the first pod of all.
func resolve(ctx context.Context, peers []string) (addrs []string) {
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	for _, peer := range peers {
		host, port, err := net.SplitHostPort(strings.TrimSpace(peer))
		if err != nil {
			continue
		}
		ips, _ := net.DefaultResolver.LookupHost(ctx, host)
		for _, ip := range ips {
			addrs = append(addrs, net.JoinHostPort(ip, port))
		}
	}
	return addrs
}
