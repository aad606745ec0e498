package observe

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// How often the servers of a cluster are asked.
const (
	EveryWhileMaking = 100 * time.Millisecond
	EveryWhileMoving = time.Second // slots: the work that moves them looks by itself; and while something is lost
	EveryAtRest      = 10 * time.Second
)

// Limits of one look at a cluster: how many servers are asked at a time, and how
// long all of them together may take. Each has its own second, see wire.
const (
	atATime = 32
	inAll   = 3 * time.Second
)

// Answers is what the servers of a cluster say, by address. One that is silent is
// not in it: that it is, is a fact and not an error.
type Answers struct {
	Servers map[string]*topology.Server
	// Refused are the addresses at which nobody listens.
	Refused map[string]bool
	// Strangers are who answers at the address of a pod without being its server, in words.
	Strangers map[string]string
	// Keys is the print of what they were opened with, "" if they were open. Rotation is the
	// number of the operator's own passwords, Doubt what is wrong with what the user brings.
	Keys, Rotation, Doubt string
	// Unstaged says that servers are to have certificates, and there are none for their files.
	Unstaged bool
}

// Keyed is a client that knows the keys it logs on by.
type Keyed interface{ Keys() access.Keys }

// Servers asks the servers of clusters. Its Take is a sampler's.
type Servers struct {
	Cached  read.Reader
	Connect func(ctx context.Context, cluster read.Key) (wire.Reader, error)
}

// Take asks every server of a cluster.
func (s Servers) Take(ctx context.Context, key read.Key) (Answers, error) {
	pods, err := podsOf(ctx, s.Cached, key)
	if err != nil {
		return Answers{}, err
	}
	servers, err := s.Connect(ctx, key)
	if err != nil {
		return Answers{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, inAll)
	defer cancel()
	var mu sync.Mutex
	answers := Answers{Servers: map[string]*topology.Server{}, Refused: map[string]bool{}, Strangers: map[string]string{}}
	if keyed, is := servers.(Keyed); is {
		keys := keyed.Keys()
		answers.Keys, answers.Rotation, answers.Doubt = keys.Print(), keys.Rotation, keys.Doubt
		answers.Unstaged = keys.Given != access.Material{} && keys.Staged == access.Material{}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i := range pods {
		addr, mark := addrOf(&pods[i]), spec.MarkOf(&pods[i])
		if addr == "" {
			continue
		}
		g.Go(func() error {
			server, err := servers.Ask(ctx, addr)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && server.Mark != mark:
				answers.Strangers[addr] = strangerOf(server)
			case err == nil:
				answers.Servers[addr] = server
			case errors.Is(err, wire.ErrConnectionRefused):
				answers.Refused[addr] = true
			}
			return nil
		})
	}
	return answers, g.Wait()
}

// of is what the server of a pod says, or who answers in its place.
func (a Answers) of(p *corev1.Pod) (server *topology.Server, stranger string) {
	addr := addrOf(p)
	switch server = a.Servers[addr]; {
	case server == nil:
		return nil, a.Strangers[addr]
	case server.Mark != spec.MarkOf(p): // another pod has had the address since
		return nil, strangerOf(server)
	}
	return server, ""
}

// strangerOf names a server by the pod that it was started in.
func strangerOf(s *topology.Server) string {
	if s.Mark == "" {
		return "a server that bears no pod's name"
	}
	return "the server of pod " + s.Mark
}

// Primaries are the addresses of those that own slots.
func (a Answers) Primaries() (addrs []string) {
	for addr, s := range a.Servers {
		if self := s.Self(); self.Follows == "" && self.Slots != "" {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// Same says that two looks saw the same, but for offsets and counts: so a cluster at
// rest does not change.
func Same(a, b Answers) bool {
	return a.Keys == b.Keys && a.Rotation == b.Rotation && a.Doubt == b.Doubt && a.Unstaged == b.Unstaged && maps.Equal(a.Refused, b.Refused) && maps.Equal(a.Strangers, b.Strangers) && maps.EqualFunc(a.Servers, b.Servers, (*topology.Server).Same)
}

// Every is how often a cluster of so many servers is asked in this phase; 0 is not at
// all. What all of them say grows with the square of their number, so many are asked
// less often.
func Every(phase meta.Phase, servers int) time.Duration {
	switch {
	case moving(phase), phase == cluster.Degraded:
		return EveryWhileMoving
	case making(phase):
		return min(EveryWhileMaking*time.Duration(max(1, servers/atATime)), EveryAtRest)
	case phase == cluster.Deleting:
		return 0
	}
	return EveryAtRest
}

// moving says that slots are being moved.
func moving(phase meta.Phase) bool {
	return phase == cluster.RebalancingSlots || phase == cluster.EvacuatingSlots
}

// making says that servers are about to change, and are waited for.
func making(phase meta.Phase) bool {
	return slices.Contains([]meta.Phase{cluster.WaitingForPods, cluster.InitializingCluster, cluster.AssigningSlots,
		cluster.ConfiguringReplicas, cluster.VerifyingClusterHealth, cluster.ScalingUpStatefulSet, cluster.WaitingForNewPods,
		cluster.AddingNodesToCluster, cluster.RebalancingSlots, cluster.ConfiguringNewReplicas, cluster.EvacuatingSlots,
		cluster.RemovingNodesFromCluster, cluster.ScalingDownStatefulSet}, phase)
}
