package act

import (
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
)

// An address identifies nobody: another server has it by now, and is told nothing of what
// was meant for the one that had it.
func TestAnAddressIsNoIdentity(t *testing.T) {
	servers := fake.New()
	servers.Start("10.0.0.1:6379", "8.1.1")
	before, _ := servers.Ask(t.Context(), "10.0.0.1:6379")
	servers.Bear("10.0.0.1:6379", "shop/web-0-0/now")
	before.Mark = "shop/web-0-0/now"
	notTold(t, servers, before, cluster.Member{Pod: "web-0-0", Addr: "10.0.0.1:6379", ID: "the one that was there", Mark: before.Mark})
	// Its ID came with a volume, and it is another pod's.
	notTold(t, servers, before, cluster.Member{Pod: "web-0-0", Addr: "10.0.0.1:6379", ID: before.ID, Mark: "shop/web-0-0/before"})
}

func notTold(t *testing.T, servers *fake.Cluster, before *topology.Server, at cluster.Member) {
	t.Helper()
	for name, effect := range map[string]fsm.Effect{
		"meet":             cluster.Meet{Introductions: []cluster.Introduction{{Of: at, To: []cluster.Member{{Addr: "10.0.0.2:6379"}}}}},
		"add slots":        cluster.AddSlots{At: at, Slots: "0-99"},
		"replicate":        cluster.Replicate{At: at, Primary: cluster.Member{ID: "x"}},
		"reset":            cluster.Reset{At: at},
		"set node timeout": cluster.SetNodeTimeout{At: []cluster.Member{at}, Timeout: time.Second},
	} {
		_, err := Cluster{Connect: to(servers)}.Act(t.Context(), &valkeyv1.ValkeyCluster{}, effect)
		if err == nil || fsm.ClassOf(err) != fsm.Changed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _ := servers.Ask(t.Context(), "10.0.0.1:6379"); !before.Same(after) {
		t.Errorf("it was %+v and is %+v", before, after)
	}
	m := mover{servers: servers, members: []cluster.Place{{Member: at}}}
	if _, err := m.step(t.Context()); err == nil || fsm.StatusMessage(err) != "Pod web-0-0: "+errSilent.Error()+"." {
		t.Errorf("move slots: %v", err)
	}
}
