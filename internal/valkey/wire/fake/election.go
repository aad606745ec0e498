package fake

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// manual is a failover that a server was asked for, until when it may go on.
type manual struct {
	mode  wire.FailoverMode
	until time.Duration
}

// stands says that a server can ask for votes now: it was asked to, or its primary is
// failed, and it has a copy.
func (c *Cluster) stands(s *server) bool {
	primary := s.view[s.self().follows]
	if s.primary() || primary == nil || s.syncing {
		return false
	}
	if s.manual != nil {
		return c.now < s.manual.until
	}
	again := s.tried == 0 || c.now-s.tried >= 4*s.timeout()
	return primary.state == topology.Failed && primary.slots != "" && s.copied && again
}

// elect lets a server ask for votes. With a majority it becomes primary; without, an
// agreed failover has kept the clients of the primary waiting for nothing.
func (c *Cluster) elect(s *server) {
	asked, old := s.manual, c.servers[s.primaryAddr()]
	s.manual = nil
	if asked != nil && asked.mode == wire.Agreed && !c.pauses(old, s, asked.until) {
		return
	}
	s.tried = c.now
	voters, votes := 0, 0
	for id, p := range s.view {
		if p.slots == "" {
			continue
		}
		voters++
		if c.finds(id, p.addr) && c.grants(c.servers[p.addr], s, asked != nil) {
			votes++
		}
	}
	if votes > voters/2 {
		c.promote(s)
	}
}

// pauses is what an agreed failover begins with: the primary makes its clients wait, so
// that the replica can get everything, until it hears that it was replaced. It does not
// listen to one that it does not see as its replica.
func (c *Cluster) pauses(primary, replica *server, until time.Duration) (caughtUp bool) {
	if !c.finds(replica.self().follows, replica.primaryAddr()) {
		return false
	}
	if seen := primary.view[replica.id]; seen == nil || seen.follows != primary.id {
		return false
	}
	primary.paused = until
	if !replica.synced || replica.history != primary.history {
		return false
	}
	replica.copyFrom(primary)
	return true
}

// grants says that a voter votes for a server, and notes that it did. It votes for one
// that it sees as a replica of a primary with slots that failed, or if it was asked by
// an operator, and once in twice the timeout; since 8.1 only for the others.
func (c *Cluster) grants(v, s *server, manual bool) bool {
	seen := v.view[s.id]
	if seen == nil || seen.follows == "" || !v.voter() {
		return false
	}
	primary := v.view[seen.follows]
	if primary == nil || primary.state != topology.Failed && !manual {
		return false
	}
	if v.knowsBetter(s.view[s.self().follows]) {
		return false
	}
	recent := primary.voted != 0 && c.now-primary.voted < 2*v.timeout()
	if recent && (!manual || v.older("8.1")) {
		return false
	}
	primary.voted = max(c.now, 1)
	v.epoch = max(v.epoch, s.epoch+1)
	return true
}

// knowsBetter says that a slot of a primary has gone to one of a higher epoch.
func (s *server) knowsBetter(primary *peer) bool {
	for _, p := range s.view {
		if p.epoch > primary.epoch && p.slots.Overlaps(primary.slots) {
			return true
		}
	}
	return false
}
