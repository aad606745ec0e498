//go:build full

package valkey

import (
	"fmt"
	"strings"
	"testing"

	"github.com/valkey-io/valkey-go"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestUpgradeWithoutAWayBack upgrades one shard and waits. Somebody deletes a pod of another shard, which comes back as
// it was; somebody writes to the first what only the new version can read; and then the new image is gone. There is no
// way forward and none back, so the upgrade says so, and touches nothing.
func TestUpgradeWithoutAWayBack(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	s.must(s.Bed.LoadImages(t.Context(), images.Valkey91))
	vkc, w := s.busy(plain)
	u := s.upgradeBy(vkc, valkeyv1.ValkeyUpgradeSpec{Image: images.Valkey91, CanaryShards: 1, SoakSeconds: 60, PodReadyTimeoutSeconds: 30, ReplicationSyncTimeoutSeconds: 60})
	s.lane(u, 0, "Completed")

	bystander := vkc.Name + "-2-1"
	was := s.pods(vkc)
	s.kubectl("delete", "pod", "-n", vkc.Namespace, bystander, "--wait=false")
	harness.Eventually(t, runningWithin, poll, func() error {
		p := s.pods(vkc)[bystander]
		if p.UID == was[bystander].UID || p.Status.PodIP == "" {
			return fmt.Errorf("%s is not back", bystander)
		}
		if got := p.Spec.Containers[0].Image; got != image {
			t.Fatalf("%s came back on %s", bystander, got)
		}
		return nil
	})
	s.writeWhatOnlyNineReads(s.addrOf(vkc, s.fresh(vkc).Status.Shards[0].Primary))
	for _, node := range s.Bed.Nodes() {
		s.must(node.RemoveImage(t.Context(), images.Valkey91))
	}
	s.ends(u, "Failed")
	if reason := s.reason(u); reason != "RollbackImpossible" {
		t.Errorf("it failed for %s: %+v", reason, u.Status.Failure)
	}
	harness.Row(t, "%s", u.Status.Failure.Message)
	s.noOther(vkc, u)
	upgraded := 0
	for name, p := range s.pods(vkc) {
		if p.Spec.Containers[0].Image == images.Valkey91 && strings.HasPrefix(name, vkc.Name+"-0-") {
			upgraded++
		}
	}
	if upgraded == 0 {
		t.Error("the shard that has data of the new version went back to the old one")
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}

// noOther checks that the cluster made no upgrade of its own: nobody has edited its spec.
func (s *stage) noOther(vkc *valkeyv1.ValkeyCluster, u *valkeyv1.ValkeyUpgrade) {
	s.T.Helper()
	var list valkeyv1.ValkeyUpgradeList
	s.must(s.Client.List(s.T.Context(), &list, client.InNamespace(vkc.Namespace)))
	for _, other := range list.Items {
		if other.UID != u.UID {
			s.T.Errorf("the cluster made the upgrade %s to %s", other.Name, other.Spec.Image)
		}
	}
}

// writeWhatOnlyNineReads writes a hash with a field that expires.
func (s *stage) writeWhatOnlyNineReads(primary string) {
	s.T.Helper()
	key := keyOf(s.T, primary)
	c, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{primary}, DisableCache: true, ForceSingleClient: true})
	s.must(err)
	defer c.Close()
	for _, command := range []valkey.Completed{
		c.B().Del().Key(key).Build(),
		c.B().Hset().Key(key).FieldValue().FieldValue("colour", "blue").Build(),
		c.B().Arbitrary("HEXPIRE").Keys(key).Args("3600", "FIELDS", "1", "colour").Build(),
	} {
		s.must(c.Do(s.T.Context(), command).Error())
	}
}

// lane waits until a shard of an upgrade has come to a phase.
func (s *stage) lane(u *valkeyv1.ValkeyUpgrade, shard int, in meta.Phase) {
	s.T.Helper()
	harness.Eventually(s.T, upgradedWithin, poll, func() error {
		s.must(s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(u), u))
		if len(u.Status.Shards) <= shard || u.Status.Shards[shard].Phase != in {
			return fmt.Errorf("%s", progress(u))
		}
		return nil
	})
}

// reason is why an upgrade has ended as it has.
func (s *stage) reason(u *valkeyv1.ValkeyUpgrade) string {
	for _, c := range u.Status.Conditions {
		if c.Type == "Ready" || c.Type == "Succeeded" {
			return c.Reason
		}
	}
	return ""
}
