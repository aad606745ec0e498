package fake

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

const nodeTimeout = "cluster-node-timeout"

// look is what the server says when it is asked.
func (c *Cluster) look(s *server) *topology.Server {
	out := &topology.Server{
		ID: s.id, Mark: s.mark, ShardID: s.shardID, Version: s.version, Empty: s.keys() == 0, Synced: s.primary() || s.synced,
		OK: c.servable(s), Timeout: int(s.timeout().Milliseconds()), Epoch: s.epoch, History: s.history, Syncing: s.syncing,
		Attached: c.attached(s), Gauges: topology.Gauges{Offset: s.offset, Keys: int64(s.keys())},
	}
	if !s.primary() && !s.copied {
		out.LinkDown = -1
	}
	out.Open = slices.SortedFunc(maps.Values(s.open), func(a, b topology.OpenSlot) int { return cmp.Compare(a.Slot, b.Slot) })
	least := map[string]string{}
	for id, p := range s.view {
		if l, ok := least[p.shardID]; !ok || id < l {
			least[p.shardID] = id
		}
	}
	for id, p := range s.view {
		epoch := p.epoch
		if primary := s.view[p.follows]; primary != nil {
			epoch = primary.epoch
		}
		out.View = append(out.View, topology.Peer{
			ID: id, Addr: p.addr, State: p.state, Linked: id == s.id || c.finds(id, p.addr), Epoch: epoch,
			Claim: topology.Claim{Follows: p.follows, Slots: p.slots, Shard: least[p.shardID]},
		})
	}
	for addr := range s.met {
		made := "handshake with " + addr
		out.View = append(out.View, topology.Peer{ID: made, Addr: addr, State: topology.Handshake})
	}
	slices.SortFunc(out.View, func(a, b topology.Peer) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// attached are those that copy from the server.
func (c *Cluster) attached(s *server) (list []topology.Attached) {
	for _, addr := range c.addresses() {
		if r := c.servers[addr]; c.up(addr) && r.primaryAddr() == s.addr && (r.synced || r.syncing) {
			list = append(list, topology.Attached{Addr: addr, Online: r.synced})
		}
	}
	return list
}

// servable is cluster_state: a majority of the servers with slots is in reach.
func (c *Cluster) servable(s *server) bool {
	voters, reached := 0, 0
	for id, p := range s.view {
		if p.slots != "" {
			voters++
			if c.finds(id, p.addr) {
				reached++
			}
		}
	}
	return voters > 0 && reached > voters/2
}

func (s *server) timeout() time.Duration {
	ms, _ := strconv.Atoi(s.settings[nodeTimeout])
	return time.Duration(ms) * time.Millisecond
}
