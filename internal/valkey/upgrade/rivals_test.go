package upgrade

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A replica that has taken over is not taken for one that was lost while who was the primary
// has not heard of it: the failover would count as failed.
func TestATakeoverThatIsNotHeardOfYetIsAwaited(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		claim topology.Claim // of the replica, by its own word
		want  fsm.Event
	}{
		"it has taken over":      {topology.Claim{Slots: topology.Share(0, 1)}, ""},
		"it follows the primary": {topology.Claim{Follows: "id of web-0-0"}, ""},
		"it follows nobody":      {topology.Claim{}, CandidateLost},
	} {
		t.Run(name, func(t *testing.T) {
			w := running("8.1.1", 1, 1)
			w.Reservation.State, w.Shards[0].Template = reserve.Ours, "9.1.2"
			w.Nodes[0].Outdated = true
			candidate := w.Nodes[1].Server
			for i := range candidate.View {
				if candidate.View[i].ID == candidate.ID {
					candidate.View[i].Claim = c.claim
				}
			}
			u := newUpgrade()
			u.Status.Phase = InProgress
			record := valkeyv1.ShardUpgrade{WantTemplate: "9.1.2", OldPrimary: "web-0-0", Promoted: "web-0-1", LastFailover: &metav1.Time{Time: now}}
			record.Phase, record.Since = FailingOver, metav1.Time{Time: now}
			u.Status.Shards = []valkeyv1.ShardUpgrade{record}
			in := input{Obj: u, World: w, Now: now.Add(time.Second)}
			if d := decideFailingOver(laneOf(in, record)); d.On != c.want {
				t.Errorf("it decides %q because of %s, not %q", d.On, d.Reason, c.want)
			}
		})
	}
}
