package valkey

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestAStrangerAtAPodsAddressIsNotMet: the node of a replica is dead, and its pod keeps its address in the API. A blank server of another
// cluster gets that address: it is left alone, and the status says who answers there.
func TestAStrangerAtAPodsAddressIsNotMet(t *testing.T) {
	const theirs = "bank/web-0-0/0a1b2c3d-0000-4000-8000-000000000002"
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	var replica topology.Node
	for _, n := range s.kubelet.nodes(t) {
		if n.Server.Self().Follows != "" {
			replica = n
		}
	}
	servers := s.kubelet.servers
	stranger := servers.Start(replica.Addr, "8.1.1")
	servers.Bear(replica.Addr, theirs)
	harness.Eventually(t, within, poll, func() error {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		words := "at its address " + replica.Addr + " answers the server of pod " + theirs
		if !slices.ContainsFunc(c.Status.Conditions, func(m metav1.Condition) bool { return strings.Contains(m.Message, words) }) {
			return fmt.Errorf("nothing says that %s: %v", words, c.Status.Conditions)
		}
		return nil
	})
	for until := time.Now().Add(rest); time.Now().Before(until); <-time.After(poll) {
		if server, err := servers.Ask(t.Context(), replica.Addr); err != nil || server.ID != stranger || !server.Blank() {
			t.Fatalf("the stranger was told something: %+v, %v", server, err)
		}
	}
}
