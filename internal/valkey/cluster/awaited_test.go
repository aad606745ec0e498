package cluster

import "testing"

// An upgrade asks by its status for what shards are to run. The event of it may be lost, so the
// cluster looks again; one that nobody works on is woken by what happens to it.
func TestWhatIsAskedForIsLookedForAgain(t *testing.T) {
	in := standsAs(Even(3, 1), Even(3, 1))
	if d := decideRunning(in); !d.Waits() || d.After != 0 {
		t.Errorf("nobody works on it: %+v", d)
	}
	in.World.Upgrade = &Upgrade{Name: "up"}
	if d := decideRunning(in); !d.Waits() || d.After != recheck {
		t.Errorf("an upgrade does: %+v", d)
	}
	in = standsAs(Even(3, 1), Even(6, 1))
	in.Obj.Spec.Paused, in.World.Upgrade = true, &Upgrade{Name: "up"}
	if d := decideRunning(in); !d.Waits() || d.After != recheck || d.Reason != ReasonPaused {
		t.Errorf("an upgrade does, and a change of size waits for a person: %+v", d)
	}
}
