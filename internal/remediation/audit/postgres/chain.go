package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/audit"
)

// again is how soon a database that failed is asked again. Everything that waits for it would otherwise ask in turn, and
// each would wait until its time is over.
const again = 5 * time.Second

// records is what a Chain asks; a Log is one.
type records interface {
	Find(ctx context.Context, chain, key string) (audit.Record, bool, error)
	Append(ctx context.Context, chain, key, body string) (audit.Record, error)
	Has(ctx context.Context, chain string, keys []string) (map[string]bool, error)
}

// Chain is the chain of one cluster. While its database fails, an answer is an error at once.
type Chain struct {
	Log records
	// Name finds out the name of the chain.
	Name func(context.Context) (string, error)
	Now  func() time.Time

	mu       sync.Mutex
	name     string
	failedAt time.Time
	failure  error
}

// Find finds the record of a key.
func (c *Chain) Find(ctx context.Context, key string) (r audit.Record, is bool, err error) {
	err = c.ask(ctx, func(chain string) (err error) { r, is, err = c.Log.Find(ctx, chain, key); return err })
	return r, is, err
}

// Append adds a record, unless there is one of this key: then it returns that one.
func (c *Chain) Append(ctx context.Context, key, body string) (r audit.Record, err error) {
	err = c.ask(ctx, func(chain string) (err error) { r, err = c.Log.Append(ctx, chain, key, body); return err })
	return r, err
}

// Has says which of some keys have a record of ours.
func (c *Chain) Has(ctx context.Context, keys []string) (has map[string]bool, err error) {
	err = c.ask(ctx, func(chain string) (err error) { has, err = c.Log.Has(ctx, chain, keys); return err })
	return has, err
}

func (c *Chain) ask(ctx context.Context, question func(chain string) error) error {
	if err := c.failing(); err != nil {
		return err
	}
	chain, err := c.chain(ctx)
	if err != nil {
		return err // the API server's trouble, not the database's
	}
	err = question(chain)
	if ctx.Err() == nil && !errors.Is(err, audit.ErrForged) { // an asker without time, or one bad record, says nothing of the others
		c.mu.Lock()
		defer c.mu.Unlock()
		c.failure, c.failedAt = err, c.Now()
	}
	return err
}

// failing is the error of a moment ago.
func (c *Chain) failing() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Now().Sub(c.failedAt) < again {
		return c.failure
	}
	return nil
}

func (c *Chain) chain(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.name != "" {
		return c.name, nil
	}
	name, err := c.Name(ctx)
	if err == nil {
		c.name = name
	}
	return name, err
}
