//go:build full

package valkey

import (
	"strings"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// TestUpgradeToABrokenImageGoesBack asks for an image that does not exist: one replica is
// lost to it for a while, and then everything is as before.
func TestUpgradeToABrokenImageGoesBack(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc, w := s.busy(plain)
	was := s.pods(vkc)
	u := s.upgradeBy(vkc, valkeyv1.ValkeyUpgradeSpec{Image: "bed.local/no-such-image:1", PodReadyTimeoutSeconds: 20})
	s.ends(u, "RolledBack")
	if f := u.Status.Failure; f == nil || f.Shard != 0 || !strings.Contains(f.Message, "ImagePull") {
		t.Errorf("it does not say why: %+v", f)
	}
	s.runs(vkc, image)
	s.noOther(vkc, u)
	replaced := 0
	for name, p := range s.pods(vkc) {
		if p.UID != was[name].UID {
			replaced++
		}
	}
	if replaced != 1 {
		t.Errorf("%d pods were replaced", replaced)
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}
