package upgrade

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

type bench = fsmtest.Bench[*valkeyv1.ValkeyUpgrade, World]

// newBench upgrades two shards of a primary and a replica.
func newBench() bench {
	b := pathBench()
	b.Any = anyUpgrade
	return b
}

// pathBench is all of it that the drill of one path needs.
func pathBench() bench {
	return bench{
		Machine: &Machine,
		Object:  newUpgrade,
		World:   func() World { return running("8.1.1", 2, 1) },
		Perform: Perform,
		Settle:  Settle,
		End:     "Completed/AllCurrent",
		Also:    []string{"Failed/StatusLost"},
		Large:   true,
		Safe:    safe,
	}
}

var created = metav1.Time{Time: time.Unix(1_690_000_000, 0)}

// newUpgrade is an upgrade as a user posts it.
func newUpgrade() *valkeyv1.ValkeyUpgrade {
	return &valkeyv1.ValkeyUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: "to-9", Namespace: "shop", UID: "u1", ResourceVersion: "7", Generation: 1, CreationTimestamp: created},
		Spec: valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: "web"}, Image: "valkey:9.1.2", Strategy: valkeyv1.Automatic,
			ReplicationSyncTimeoutSeconds: 15, PodReadyTimeoutSeconds: 20},
	}
}

// running is a cluster that runs, every shard of a primary and so many replicas, and that
// would be given 9.1.2.
func running(version string, shards, replicas int) World {
	w := World{Cluster: Cluster{Sight: presence.Here, UID: "c1", Phase: ClusterRunning, Formed: true}, Reservation: reserve.Fact{State: reserve.Free}, Template: "9.1.2"}
	var view []topology.Peer
	for i := range shards {
		name := fmt.Sprintf("web-%d", i)
		w.Shards = append(w.Shards, Shard{Index: i, Name: name, UID: "uid of " + name, Template: version, Revision: name + "-" + version, Settled: true, Replicas: replicas})
		for j := range 1 + replicas {
			pod := fmt.Sprintf("%s-%d", name, j)
			p := topology.Peer{ID: "id of " + pod, Addr: pod + ":6379", Linked: true, Epoch: int64(i + 1), Claim: topology.Claim{Shard: fmt.Sprintf("id of %s-0", name)}}
			if j == 0 {
				p.Slots = topology.Share(i, shards)
			} else {
				p.Follows = fmt.Sprintf("id of %s-0", name)
			}
			view = append(view, p)
			w.Nodes = append(w.Nodes, topology.Node{
				Pod: topology.Pod{Name: pod, UID: "uid of " + pod, Shard: i, Ordinal: j, Addr: pod + ":6379", Image: version, Ready: true, Version: "1"},
				Server: &topology.Server{ID: p.ID, ShardID: name, Version: version, Synced: true, OK: true, Timeout: 5000,
					History: "history of " + name, Gauges: topology.Gauges{Offset: 100}},
			})
		}
	}
	slices.SortFunc(view, func(a, b topology.Peer) int { return strings.Compare(a.ID, b.ID) })
	for _, n := range w.Nodes {
		n.Server.View = slices.Clone(view)
	}
	return w
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }

func TestScenarios(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			all := s.run()
			last := all[len(all)-1].obj.Status
			ready := apimeta.FindStatusCondition(last.Conditions, fsm.Ready)
			if ready == nil || string(last.Phase)+"/"+ready.Reason != s.end {
				t.Fatalf("%s: %s, want %s", last.Phase, last.WaitingFor, s.end)
			}
			t.Logf("%d stages; %s", len(all), ready.Message)
		})
	}
}

// TestPaths drills every way an upgrade may go.
func TestPaths(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsmtest.Drill(t, s.bench())
		})
	}
}
