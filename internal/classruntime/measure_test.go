package classruntime

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry/fake"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// counting is a source that counts how often it is asked, and about how many functions.
type counting struct {
	*fake.Source
	asked []int
}

func (c *counting) Look(ctx context.Context, subjects []telemetry.Subject) (map[load.Key]telemetry.Answer, error) {
	c.asked = append(c.asked, len(subjects))
	return c.Source.Look(ctx, subjects)
}

// watching are looks at one source, driven by hand.
type watching struct {
	*Looks
	source *counting
	now    time.Time
	woken  []string
}

func newWatching() *watching {
	w := &watching{now: time.Unix(1_700_000_000, 0)}
	now := func() time.Time { return w.now }
	w.source = &counting{Source: fake.New(now, time.Minute, 5*time.Second)}
	w.Looks = NewLooks(kube.Env{Now: now}, map[string]Source{"main": {w.source, 5 * time.Second}}, func(key read.Key) { w.woken = append(w.woken, key.Name) })
	return w
}

// after lets time go by, and says who was woken.
func (w *watching) after(t *testing.T, d time.Duration) []string {
	t.Helper()
	w.woken = nil
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(time.Second)
		w.Drive(t.Context())
	}
	slices.Sort(w.woken)
	return slices.Compact(w.woken)
}

func (w *watching) follow(name, source string) {
	c := newClass()
	c.Name = name
	if source != "" {
		c.Spec.Telemetry = &runtimev1.Telemetry{Source: source}
	}
	w.Follow(read.Key{Namespace: "shop", Name: name}, c, true)
}

func podOf(class string, rps float64) fake.Pod {
	return fake.Pod{Key: load.Key{Namespace: "shop", Class: class, Function: "add"}, RPS: rps, Latency: time.Millisecond}
}

// TestOneLookIsForAllClasses: a source is asked as often for many classes as for one.
func TestOneLookIsForAllClasses(t *testing.T) {
	w := newWatching()
	w.follow("cart", "main")
	w.follow("order", "main")
	w.follow("stock", "")
	w.follow("mail", "unknown")
	w.after(t, 30*time.Second)
	if diff := cmp.Diff([]int{2, 2, 2}, w.source.asked); diff != "" {
		t.Errorf("asked every two intervals, about two functions: %s", diff)
	}
	for _, name := range []string{"cart", "order"} {
		w.Follow(read.Key{Namespace: "shop", Name: name}, nil, false)
	}
	w.source.asked = nil
	w.after(t, 30*time.Second)
	if len(w.source.asked) > 0 {
		t.Errorf("asked %v for nobody", w.source.asked)
	}
}

// TestWhoIsWoken: only the class of which something else is known.
func TestWhoIsWoken(t *testing.T) {
	w := newWatching()
	w.source.Serve("cart-1", podOf("cart", 100))
	w.source.Serve("order-1", podOf("order", 100))
	w.follow("cart", "main")
	w.follow("order", "main")
	w.after(t, 3*time.Minute)
	for _, step := range []struct {
		what string
		do   func()
		want []string
	}{
		{"nothing changes", func() {}, nil},
		{"the load of one class changes", func() { w.source.Serve("cart-1", podOf("cart", 200)) }, []string{"cart"}},
		{"the source does not answer any more", func() { w.source.Set(fake.Down) }, []string{"cart", "order"}},
		{"it still does not", func() {}, nil},
	} {
		step.do()
		if diff := cmp.Diff(step.want, w.after(t, 40*time.Second)); diff != "" {
			t.Errorf("%s: woken %s", step.what, diff)
		}
	}
	if last := w.Last(read.Key{Name: "main"}); last.Err == nil || len(last.Value) != 2 {
		t.Errorf("what was measured before is forgotten: %+v", last)
	}
}
