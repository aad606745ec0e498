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
	primary := s.view[s.self().follows]
	asked := s.manual
	s.manual = nil
	if asked != nil && asked.mode == wire.Agreed {
		old := c.servers[primary.addr]
		if !c.finds(s.self().follows, primary.addr) || old.view[s.id] == nil || old.view[s.id].follows != old.id {
			return // the primary does not listen to one that is not its replica
		}
		old.paused = asked.until
		if !s.synced || s.history != old.history {
			return
		}
		s.copyFrom(old)
		defer func() {
			if s.primary() {
				old.paused = 0
			}
		}()
	}
	s.tried = c.now
	voters, votes := 0, 0
	for id, p := range s.view {
		if p.slots == "" {
			continue
		}
		voters++
		if v := c.servers[p.addr]; c.finds(id, p.addr) && v.voter() && c.grants(v, s, asked != nil) {
			votes++
		}
	}
	if votes > voters/2 {
		c.promote(s)
	}
}

// grants says that a voter votes for a server, and notes that it did. It votes for one
// that it sees as a replica of a primary with slots that failed, or if it was asked by
// an operator, and once in twice the timeout; since 8.1 only for the others.
func (c *Cluster) grants(v, s *server, manual bool) bool {
	seen := v.view[s.id]
	if seen == nil || seen.follows == "" {
		return false
	}
	primary := v.view[seen.follows]
	if primary == nil || primary.epoch > s.view[s.self().follows].epoch || primary.state != topology.Failed && !manual {
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
