package upgrade

import (
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

func TestMachine(t *testing.T)     { fsmtest.Try(t, Bench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, Bench()) }

// TestWayBack drills the path on which nothing on the new image ever syncs.
func TestWayBack(t *testing.T) {
	b := Bench()
	b.Settle = func(u *Upgrade, w World) World {
		w = Settle(u, w)
		for _, s := range w.Shards {
			for j := range s.Nodes {
				s.Nodes[j].Synced = s.Nodes[j].Image == "8.1"
			}
		}
		return w
	}
	b.World = func() World { return Cluster("8.1", 1, 3) }
	b.End = "RolledBack/AllBack"
	fsmtest.Drill(t, b)
}

// BenchmarkPass is one Step and Reduce of an upgrade of 250 shards under way.
func BenchmarkPass(b *testing.B) {
	in := input{Obj: Bench().Object(), World: Cluster("8.1", 250, 3), Now: time.Unix(1_700_000_000, 0)}
	for range 6 {
		s, err := Machine.Step(in)
		if err != nil {
			b.Fatal(err)
		}
		in.Obj, in.World.Holder = Machine.Reduce(in, s, nil).Obj, "u1"
	}
	if in.Obj.Status.Phase != InProgress {
		b.Fatal(in.Obj.Status.Phase)
	}
	for b.Loop() {
		s, _ := Machine.Step(in)
		Machine.Reduce(in, s, nil)
	}
}
