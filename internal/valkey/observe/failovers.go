package observe

import (
	"sync"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Failovers counts how often shards got another primary, by whoever's wish, since this process began
// to look at them. It is for metrics, so it may begin at 0 again with every leader.
type Failovers struct {
	mu sync.Mutex
	of map[read.Key]*counted
}

type counted struct {
	primaries map[string]owner // by the ID of the shard
	failovers int
}

// owner is a server that owns the slots of a shard, by an election in an epoch.
type owner struct {
	id    string
	epoch int64
}

// See compares a look at a cluster with those before it.
func (f *Failovers) See(key read.Key, a Answers) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[read.Key]*counted{}
	}
	if f.of[key] == nil {
		f.of[key] = &counted{primaries: map[string]owner{}}
	}
	c := f.of[key]
	for shard, now := range a.primaryOfShard() {
		was, known := c.primaries[shard]
		if known && now.epoch < was.epoch {
			continue // a former primary that has not heard of the new one, which did not answer this time
		}
		if known && was.id != now.id {
			c.failovers++
		}
		c.primaries[shard] = now
	}
}

// Of is how many there were in a cluster.
func (f *Failovers) Of(key read.Key) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.of[key]; c != nil {
		return c.failovers
	}
	return 0
}

// Forget forgets a cluster that is gone.
func (f *Failovers) Forget(key read.Key) {
	if f == nil {
		return // nobody counts
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, key)
}

// primaryOfShard is the server that owns the slots of a shard, by the ID of the shard. A former
// primary claims them, too, until it hears of the new one, whose epoch is higher.
func (a Answers) primaryOfShard() map[string]owner {
	owners := map[string]owner{}
	for _, s := range a.Servers {
		self := s.Self()
		if self.Follows != "" || self.Slots == "" || s.ShardID == "" {
			continue
		}
		if o, claimed := owners[s.ShardID]; !claimed || self.Epoch > o.epoch {
			owners[s.ShardID] = owner{id: s.ID, epoch: self.Epoch}
		}
	}
	return owners
}
