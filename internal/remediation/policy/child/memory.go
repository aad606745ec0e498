package child

import (
	"sync"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// remembered is how many replies a client remembers.
const remembered = 256

type key = [32]byte

// memory holds the latest replies by question. The oldest goes first, asked again or not: the
// questions change every minute, with the time in their input.
type memory struct {
	mu      sync.Mutex
	replies map[key]policy.Reply
	order   [remembered]key
	next    int
}

func (m *memory) find(k key) (policy.Reply, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known := m.replies[k]
	return r.Clone(), known
}

func (m *memory) keep(k key, r policy.Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.replies == nil {
		m.replies = map[key]policy.Reply{}
	}
	if _, known := m.replies[k]; known {
		return
	}
	if len(m.replies) == remembered {
		delete(m.replies, m.order[m.next])
	}
	m.replies[k], m.order[m.next] = r.Clone(), k
	m.next = (m.next + 1) % remembered
}
