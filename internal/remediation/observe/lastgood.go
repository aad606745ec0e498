package observe

import (
	"context"
	"fmt"
	"sync"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// LastGood asks the last policy pack that compiled for as long as the present one does not: a slip of the pen neither
// stops all repairs nor lifts a rule. The pack is kept in memory only. After a restart there is none, and executions wait: one
// that was written down somewhere would be another place from which policies come.
type LastGood struct {
	Next Evaluator
	// Pack is the policy pack of this moment.
	Pack func(context.Context) (policy.Pack, error)
	// Invalid is told whether that compiles, each time it is looked at.
	Invalid func(bool)

	mu   sync.Mutex
	good policy.Pack
	kept bool
}

// Evaluate implements Evaluator.
func (l *LastGood) Evaluate(ctx context.Context, q policy.Question) (policy.Reply, error) {
	r, err := l.Next.Evaluate(ctx, q)
	if err != nil {
		return r, fmt.Errorf("ask the present policy pack: %w", err)
	}
	if !r.InvalidPack {
		l.keep(q.Pack)
		return r, nil
	}
	good, kept := l.last()
	if !kept {
		return r, nil
	}
	q.Pack = good
	if r, err = l.Next.Evaluate(ctx, q); err != nil {
		return r, fmt.Errorf("ask the last policy pack that compiled: %w", err)
	}
	r.Pack = good.Digest()
	return r, nil
}

// Look sees whether the present pack compiles, and keeps it if it does. It is repeated, so that there is a last one as soon as
// the manager leads.
func (l *LastGood) Look(ctx context.Context) error {
	pack, err := l.Pack(ctx)
	if err != nil {
		return err
	}
	r, err := l.Next.Evaluate(ctx, policy.Question{Pack: pack})
	if err != nil {
		return fmt.Errorf("compile policy pack: %w", err)
	}
	if l.Invalid(r.InvalidPack); r.InvalidPack {
		return fmt.Errorf("compile policy pack: %s", r.Problem)
	}
	l.keep(pack)
	return nil
}

func (l *LastGood) keep(pack policy.Pack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good, l.kept = pack, true
}

func (l *LastGood) last() (policy.Pack, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.good, l.kept
}
