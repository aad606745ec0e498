//go:build full

package valkey

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestScaleAtALimitedPace moves slots to a fourth shard no faster than servers may send, and back without a limit.
func TestScaleAtALimitedPace(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	l := load{keys: 4 << 10, bytes: 1 << 16}
	const perSecond = 2 << 20
	sent := l.keys * l.bytes / 4 / 3 // by each of three servers
	for image, atOnce := range map[string]int{
		images.Valkey91: 3,
		images.Valkey81: 1, // who receives key by key has one sender at a time
	} {
		t.Run(strings.TrimPrefix(image, "bed.local/"), func(t *testing.T) {
			s := s.of(t)
			s.must(s.Bed.LoadImages(t.Context(), image))
			vkc, w := s.busy(func(v *valkeyv1.ValkeyCluster) {
				v.Spec.Image, v.Spec.ReplicasPerMaster = image, ptr.To(int32(0))
				v.Spec.SlotMigration.MaxBytesPerSecond = ptr.To(resource.MustParse("2Mi"))
			})
			fill(t, s.addr(vkc), l)
			limited, least := s.timeResize(vkc, size{4, 0}), time.Duration(sent*3/atOnce)*time.Second/perSecond
			// What servers say their keys take is more than what was written, by up to a third.
			if limited < least || limited > least*2 {
				t.Errorf("at %d bytes a second, %d were moved in %s, want %s", perSecond, sent*3, limited, least)
			}
			was := vkc.DeepCopy()
			vkc.Spec.SlotMigration.MaxBytesPerSecond = nil
			s.must(s.Client.Patch(t.Context(), vkc, client.MergeFrom(was)))
			free := s.timeResize(vkc, size{3, 0})
			if free == 0 || free > least/2 {
				t.Errorf("without a limit it took %s", free)
			}
			harness.Row(t, "%d MB at 2 MB/s each: %s (at best %s); as fast as can be: %s", sent*3>>20,
				limited.Round(10*time.Millisecond), least.Round(10*time.Millisecond), free.Round(10*time.Millisecond))
			w.Check(t)
			s.empty(vkc.Namespace, vkc)
		})
	}
}

// timeResize is how long slots are on the move until a cluster has another size.
func (s *stage) timeResize(vkc *valkeyv1.ValkeyCluster, to size) time.Duration {
	s.T.Helper()
	s.resize(vkc, to)
	return s.timeMoving(vkc, func() bool { return has(vkc, to) == nil })
}
