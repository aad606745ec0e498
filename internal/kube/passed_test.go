package kube

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

// passing is what is told of one pass.
type passing struct {
	Before, After fsm.Phase
	Reason        fsm.Reason
	Effects       int
	Err           bool
}

func TestPassesAreTold(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "lamps"}, "lamp", errors.New("modified"))
	for what, c := range map[string]struct {
		change func(*bench)
		want   passing
	}{
		"a move":  {func(b *bench) { b.world[off] = fsm.Fire(press, "Pressed") }, passing{Before: off, After: on, Reason: "Bright"}},
		"effects": {func(b *bench) { b.world[off] = fsm.Do("Polish", effect("polish"), effect("shine")) }, passing{Before: off, After: off, Reason: "Polish", Effects: 2}},
		"an effect that failed": {func(b *bench) {
			b.world[off] = fsm.Do("Polish", effect("polish"), effect("shine"))
			b.fails["polish"] = errDark
		}, passing{Before: off, After: off, Reason: "Polish", Effects: 1}},
		"rest":                       {func(*bench) {}, passing{Before: off, After: off, Reason: "Dark"}},
		"a look that failed":         {func(b *bench) { b.blindBy = errDark }, passing{Before: off, After: off, Err: true}},
		"a conflict":                 {func(b *bench) { b.world[off] = fsm.Fire(press, "Pressed"); b.server.refuses = conflict }, passing{Before: off, After: off, Reason: "Bright", Err: true}},
		"a decision that is refused": {func(b *bench) { b.world[off] = fsm.Fire("Unheard", "Of") }, passing{Before: off, After: off, Err: true}},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(lampMachine())
			b.pass(t)
			var told []passing
			var took []time.Duration
			b.Passed = func(p PassReport[*kubetest.Lamp]) {
				told = append(told, passing{p.Before.Status.Phase, p.After.Status.Phase, p.Decision.Reason, len(p.Outcomes), p.Err != nil})
				took = append(took, p.Took)
			}
			now := time.Unix(100, 0)
			b.Now = func() time.Time { now = now.Add(time.Second); return now }
			c.change(b)
			_, _ = b.Pass(t.Context(), lampKey)
			if diff := cmp.Diff([]passing{c.want}, told); diff != "" || took[0] < time.Second {
				t.Errorf("(-want +told):\n%s, took %v", diff, took)
			}
		})
	}
}
