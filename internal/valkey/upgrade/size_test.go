package upgrade

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

const mostBytes = 160 << 10 // of a status: an object may have 1.5 MiB, and is written often

// The largest cluster with the longest names fits, even with every field of every shard set.
func TestTheLargestStatusFits(t *testing.T) {
	u, at, replicas := newUpgrade(), metav1.Time{Time: time.Unix(1_700_000_000, 0)}, int32(1)
	pod := strings.Repeat("x", 48) + "-249-5"
	for i := range 250 {
		u.Status.Shards = append(u.Status.Shards, valkeyv1.ShardUpgrade{
			Index: int32(i), Place: place{Phase: WaitingForClusterStable, Since: at, Deadline: &at}, WantTemplate: valkeyv1.RevisionPrefix + pod + "-0123456789",
			WantReplicas: &replicas, FromRevision: pod + "-0123456789", Replacing: pod, OldPrimary: pod, Promoted: pod, LastFailover: &at,
			FailedFailovers: 3, SyncStartedAt: &at, SyncElapsedSeconds: 300,
		})
	}
	text, err := json.Marshal(u)
	if err != nil || len(text) > mostBytes {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	t.Logf("%d bytes", len(text))
}

// BenchmarkPass is one Step and Reduce of an upgrade of 250 shards under way.
func BenchmarkPass(b *testing.B) {
	in := input{Obj: newUpgrade(), World: running("8.1.1", 250, 1), Now: time.Unix(1_700_000_000, 0)}
	in.World.Reservation.State = reserve.Ours
	for range 3 {
		s, err := Machine.Step(in)
		if err != nil {
			b.Fatal(err)
		}
		in.Obj = Machine.Reduce(in, s, nil).Obj
	}
	if in.Obj.Status.Phase != InProgress || len(in.Obj.Status.Shards) != 250 {
		b.Fatal(fmt.Sprint(in.Obj.Status.Phase, in.Obj.Status.WaitingFor))
	}
	for b.Loop() {
		s, _ := Machine.Step(in)
		Machine.Reduce(in, s, nil)
	}
}
