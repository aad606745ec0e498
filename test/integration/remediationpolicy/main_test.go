package remediationpolicy

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/child"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/rego"
)

// The tests run their own binary as the process that answers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && answers[os.Args[1]] != nil {
		if err := child.Serve(os.Stdin, os.Stdout, answers[os.Args[1]]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var answers = map[string]func(policy.Question) policy.Reply{
	"evaluate": func(q policy.Question) policy.Reply { return rego.Evaluate(context.Background(), q) },
	"escape": func(policy.Question) policy.Reply {
		var r policy.Reply
		if _, err := os.Open(os.Args[0]); err == nil {
			r.Answer.Reasons = append(r.Answer.Reasons, "opened a file")
		}
		if c, err := net.Dial("tcp", "127.0.0.1:1"); err == nil || !isTooMany(err) {
			r.Answer.Reasons = append(r.Answer.Reasons, fmt.Sprintf("made a socket: %v, %v", c, err))
		}
		return r
	},
}

// asker is a client whose costs are recorded.
type asker struct {
	*child.Client
	mu    sync.Mutex
	costs []child.Cost
}

func newAsker(command string) *asker {
	a := &asker{Client: child.NewClient(os.Args[0], command)}
	a.OnCost(func(c child.Cost) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.costs = append(a.costs, c)
	})
	return a
}

// worst is the dearest of what was asked, in each respect.
func (a *asker) worst() (worst child.Cost) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.costs {
		worst.Wall, worst.CPU, worst.Memory = max(worst.Wall, c.Wall), max(worst.CPU, c.CPU), max(worst.Memory, c.Memory)
	}
	return worst
}
