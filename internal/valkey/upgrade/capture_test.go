package upgrade

import (
	"fmt"
	"strings"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// uncaptured is what an upgrade sees that asks for captures, before there are any.
func uncaptured(u *valkeyv1.ValkeyUpgrade, w World) (c Captures) {
	for _, s := range w.Shards {
		c.Of = append(c.Of, Capture{Shard: s.Index, Name: CaptureName(u, s.Index), Claim: fmt.Sprintf("data-%s-0", s.Name), State: NotCaptured})
	}
	return c
}

// careful is the bench of an upgrade that captures first.
func careful() bench {
	b := pathBench()
	b.Object = func() *valkeyv1.ValkeyUpgrade {
		u := newUpgrade()
		u.Spec.CaptureFirst = true
		return u
	}
	b.World = func() World {
		w := running("8.1.1", 2, 1)
		w.Captures = uncaptured(newUpgrade(), w)
		return w
	}
	return b
}

// TestCapturesFirst drills an upgrade that captures all volumes first, and one whose captures fail.
func TestCapturesFirst(t *testing.T) {
	t.Run("all succeed", func(t *testing.T) { fsmtest.Drill(t, careful()) })
	t.Run("one fails", func(t *testing.T) {
		b := careful()
		b.End = "Failed/CaptureFailed"
		b.Settle = func(u *valkeyv1.ValkeyUpgrade, w World) World {
			w = Settle(u, w)
			if c := &w.Captures.Of[1]; c.State == Captured {
				c.State, c.Words = CaptureEnded, "DriverError"
			}
			return w
		}
		fsmtest.Drill(t, b)
	})
}

// The names tell shards, and upgrades of one name, apart; and they are names.
func TestCaptureNames(t *testing.T) {
	u, other := newUpgrade(), newUpgrade()
	u.Name, u.UID, other.UID = strings.Repeat("x", 253), "11111111-2222", "33333333-2222"
	names := map[string]bool{CaptureName(u, 0): true, CaptureName(u, 249): true, CaptureName(other, 0): true}
	if len(names) != 3 || len(CaptureName(u, 249)) > 253 {
		t.Error(names)
	}
}

// An upgrade that does not wait for its captures is caught.
func TestFaultDoesNotCapture(t *testing.T) {
	b := careful()
	b.Step = func(in input) (fsm.Step[*valkeyv1.ValkeyUpgrade], error) {
		hasty := in
		hasty.Obj = in.Obj.DeepCopy()
		hasty.Obj.Spec.CaptureFirst = false
		s, err := Machine.Step(hasty)
		s.Obj.Spec.CaptureFirst = true
		return s, err
	}
	if err := b.Crash(); err == nil || !strings.Contains(err.Error(), "begins before all volumes are captured") {
		t.Errorf("error %v", err)
	}
}
