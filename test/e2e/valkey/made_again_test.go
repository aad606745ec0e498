//go:build full

package valkey

import (
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

// TestCreateOverKeptVolumes deletes a cluster whose volumes stay, and makes it again: it is the same one, with all that
// was written.
func TestCreateOverKeptVolumes(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	t.Run("open", func(t *testing.T) {
		s.of(t).makeAgain(bedtest.Namespace(t, s.Bed), onVolumes, func(addr string) valkey.ClientOption {
			return valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true}
		})
	})
	t.Run("with TLS and users", func(t *testing.T) {
		safe := s.of(t).secure(bedtest.Namespace(t, s.Bed))
		s.of(t).makeAgain(safe.namespace, safe.change, safe.option)
	})
}

func (s *stage) makeAgain(namespace string, change func(*valkeyv1.ValkeyCluster), option func(addr string) valkey.ClientOption) {
	s.T.Helper()
	vkc := s.createAs(namespace, change)
	s.running(vkc)
	w := writer.StartWith(s.T, option(s.addr(vkc)))
	w.Await(s.T, writesBefore)
	w.Stop()
	for range rounds {
		s.empty(namespace, vkc)
		began := time.Now()
		vkc = s.createAs(namespace, change)
		s.running(vkc)
		harness.Row(s.T, "made again over its volumes: runs after %s", time.Since(began).Round(100*time.Millisecond))
	}
	w.ReconnectWith(s.T, option(s.addr(vkc)))
	w.Check(s.T)
	s.empty(namespace, vkc)
}
