package child

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// atOnce is how many processes run at a time. The manager's memory limit has room for two.
const atOnce = 2

// Client asks each question in a process of its own, and remembers the replies.
type Client struct {
	argv   []string
	slots  *semaphore.Weighted
	memory memory
	cost   func(Cost)
	wall   time.Duration
}

// NewClient makes a client that runs a command for each question. The command calls Serve.
func NewClient(argv ...string) *Client {
	return &Client{argv: argv, slots: semaphore.NewWeighted(atOnce), wall: Wall}
}

// OnCost makes a function see what each process cost. It is set before the first question.
func (c *Client) OnCost(see func(Cost)) { c.cost = see }

// Evaluate asks a question. It waits while two others are being asked. A reply that denies is what
// pack or input are the cause of. An error says that the question could not be asked, and is to be
// asked again.
func (c *Client) Evaluate(ctx context.Context, q policy.Question) (policy.Reply, error) {
	encoded, err := q.Encode()
	if err != nil {
		return policy.Reply{}, err
	}
	if len(encoded) > maxQuestion {
		return policy.Deny(q, fmt.Sprintf("The policy pack and its input are longer than %d MiB.", maxQuestion>>20)), nil
	}
	key := sha256.Sum256(encoded)
	if r, known := c.memory.find(key); known {
		return r, nil
	}
	if err := c.slots.Acquire(ctx, 1); err != nil {
		return policy.Reply{}, fmt.Errorf("wait for other evaluations: %w", err)
	}
	defer c.slots.Release(1)
	// Another caller may have asked the same while this one waited.
	if r, known := c.memory.find(key); known {
		return r, nil
	}
	r, err := c.run(ctx, q, encoded)
	if err != nil {
		return policy.Reply{}, err
	}
	c.memory.keep(key, r)
	return r, nil
}
