package perform

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// Whatever happens to requests, whatever others write meanwhile, and whenever the program is told to
// stop: the action is done at most once, Applied means that it was done, and NotApplied that it was
// not and never will be.
func TestAtMostOnceAndTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		object, commands := web, []func() action.Command{scale, restart}
		if rapid.Bool().Draw(t, "deletes") {
			object, commands = pod, []func() action.Command{deletion(nil), deletion(action.Params{"gracePeriodSeconds": int64(0)})}
		}
		c := clusterOf(object, map[string]fault{})
		for n := range rapid.IntRange(0, 6).Draw(t, "faults") {
			c.faults[fmt.Sprintf("GET %d", n+1)] = aFault(t, reading, cancel)
			c.faults[fmt.Sprintf("PATCH %d", n+1)] = aFault(t, writing, cancel)
			c.faults[fmt.Sprintf("DELETE %d", n+1)] = c.faults[fmt.Sprintf("PATCH %d", n+1)]
		}
		command := rapid.SampledFrom(commands).Draw(t, "command")()
		p := brief
		p.Settle = time.Millisecond
		r := Perform(ctx, c, command, p)
		t.Logf("%s: %s", r.Effect, r.Error)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.arrive()
		if c.effects > 1 || r.Effect == applied && c.effects != 1 || r.Effect == notApplied && c.effects != 0 {
			t.Errorf("%d effects, and the report says %s: %s", c.effects, r.Effect, r.Error)
		}
	})
}

type failure struct {
	name string
	make func(then func(*cluster)) fault
}

var (
	reading = []failure{
		{"answers", func(then func(*cluster)) fault { return first(then) }},
		{"is lost", func(then func(*cluster)) fault { return lostAfter(then) }},
		{"is not done", func(func(*cluster)) fault { return failing(down) }},
	}
	writing = append([]failure{
		{"is done, and lost", func(then func(*cluster)) fault { return lostAfter(then) }},
		{"is lost", func(then func(*cluster)) fault { return lostBefore(then) }},
		{"arrives late", late},
		{"is refused", func(func(*cluster)) fault { return failing(forbidden) }},
		{"has to wait", func(func(*cluster)) fault { return failing(busyNow) }},
	}, reading...)
	others = map[string]func(*cluster){
		"": func(*cluster) {}, "late writes arrive": (*cluster).arrive, "status": writeStatus, "resize": resize, "undo": undo,
		"begin": begin, "remove": remove, "recreate": recreate,
	}
)

func late(then func(*cluster)) fault {
	return func(c *cluster, do func() (map[string]any, error)) (map[string]any, error) {
		c.late = append(c.late, do)
		then(c)
		return nil, errLost
	}
}

// aFault draws what happens to a request, what others do meanwhile, and whether the program is told
// to stop then.
func aFault(t *rapid.T, of []failure, stop func()) fault {
	f := of[rapid.IntRange(0, len(of)-1).Draw(t, "request")]
	name := rapid.SampledFrom([]string{"", "", "late writes arrive", "status", "status", "resize", "undo", "begin", "remove", "recreate"}).Draw(t, f.name+", and then")
	stops := rapid.IntRange(0, 9).Draw(t, "stops") == 0
	return f.make(func(c *cluster) {
		if c.object != nil || name == "recreate" {
			others[name](c)
		}
		if stops {
			stop()
		}
	})
}
