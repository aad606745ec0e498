package valkey

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

const upgradedWithin = 8 * time.Minute

// TestUpgradeLosesNothing takes a cluster from version to version under a writer.
func TestUpgradeLosesNothing(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	steps := harness.ByLevel([]string{images.Valkey81, images.Valkey91}, []string{images.Valkey80, images.Valkey81, images.Valkey91})
	if err := s.Bed.LoadImages(t.Context(), steps...); err != nil {
		t.Fatal(err)
	}
	for _, c := range harness.ByLevel([]kindOfCluster{{1, false}}, []kindOfCluster{{0, false}, {1, false}, {2, false}, {1, true}, {2, true}}) {
		t.Run(c.String(), func(t *testing.T) {
			s := s.of(t)
			vkc := s.createAs(bedtest.Namespace(t, s.Bed), func(v *valkeyv1.ValkeyCluster) {
				v.Spec.Image, v.Spec.ReplicasPerMaster, v.Spec.Persistence.Enabled = steps[0], &c.replicas, c.volumes
			})
			s.running(vkc)
			w := writer.Start(t, s.addr(vkc))
			w.Await(t, writesBefore)
			for i, to := range steps[1:] {
				began := time.Now()
				ask := s.edit
				if i%2 == 1 {
					ask = s.upgrade
				}
				s.ends(ask(vkc, to), "Completed")
				harness.Row(t, "to %s after %s", to, time.Since(began).Round(100*time.Millisecond))
				s.runs(vkc, to)
			}
			w.Check(t)
			s.empty(vkc.Namespace, vkc)
		})
	}
}

// kindOfCluster is what of a cluster matters to an upgrade.
type kindOfCluster struct {
	replicas int32
	volumes  bool
}

func (k kindOfCluster) String() string {
	where := "in memory"
	if k.volumes {
		where = "on volumes"
	}
	return fmt.Sprintf("3 x %d %s", k.replicas, where)
}

// upgrade asks for another image.
func (s *stage) upgrade(vkc *valkeyv1.ValkeyCluster, to string) *valkeyv1.ValkeyUpgrade {
	s.T.Helper()
	return s.upgradeBy(vkc, valkeyv1.ValkeyUpgradeSpec{Image: to})
}

// edit changes the image of a cluster, which makes the upgrade itself.
func (s *stage) edit(vkc *valkeyv1.ValkeyCluster, to string) *valkeyv1.ValkeyUpgrade {
	s.T.Helper()
	return s.follows(vkc, to, func(v *valkeyv1.ValkeyCluster) { v.Spec.Image = to })
}

// follows changes the spec of a cluster, and finds the upgrade to an image that it makes for that.
func (s *stage) follows(vkc *valkeyv1.ValkeyCluster, to string, change func(*valkeyv1.ValkeyCluster)) *valkeyv1.ValkeyUpgrade {
	s.T.Helper()
	was := vkc.DeepCopy()
	change(vkc)
	if err := s.Client.Patch(s.T.Context(), vkc, client.MergeFrom(was)); err != nil {
		s.T.Fatal(err)
	}
	var made valkeyv1.ValkeyUpgrade
	harness.Eventually(s.T, runningWithin, poll, func() error {
		var list valkeyv1.ValkeyUpgradeList
		if err := s.Client.List(s.T.Context(), &list, client.InNamespace(vkc.Namespace)); err != nil {
			return err
		}
		for _, u := range list.Items {
			if metav1.IsControlledBy(&u, vkc) && u.Spec.Image == to {
				made = u
				return nil
			}
		}
		return fmt.Errorf("no upgrade was made")
	})
	return &made
}

func (s *stage) upgradeBy(vkc *valkeyv1.ValkeyCluster, spec valkeyv1.ValkeyUpgradeSpec) *valkeyv1.ValkeyUpgrade {
	s.T.Helper()
	spec.ClusterRef.Name = vkc.Name
	u := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: vkc.Namespace, GenerateName: vkc.Name + "-"}, Spec: spec}
	if err := s.Client.Create(s.T.Context(), u); err != nil {
		s.T.Fatal(err)
	}
	return u
}

// ends waits until an upgrade has ended, in this phase.
func (s *stage) ends(u *valkeyv1.ValkeyUpgrade, in meta.Phase) {
	s.T.Helper()
	began, was := time.Now(), ""
	harness.Eventually(s.T, upgradedWithin, poll, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		if is := progress(u); is != was {
			was = is
			s.T.Logf("%5.1f s %s", time.Since(began).Seconds(), is)
		}
		if upgrade.Ended(u.Status.Phase) && u.Status.Phase != in {
			s.T.Fatalf("ended %s, want %s: %+v", u.Status.Phase, in, u.Status.Failure)
		}
		if u.Status.Phase != in {
			return fmt.Errorf("is %s with %s shards, waiting for %q", u.Status.Phase, u.Status.UpgradedShards, u.Status.WaitingFor)
		}
		return nil
	})
}

// progress says in few words where an upgrade stands.
func progress(u *valkeyv1.ValkeyUpgrade) string {
	words := string(u.Status.Phase)
	for _, shard := range u.Status.Shards {
		words += fmt.Sprintf(" %d:%s", shard.Index, shard.Phase)
	}
	return words + " (" + u.Status.WaitingFor + ")"
}

// runs checks that every pod runs an image, and the cluster says so.
func (s *stage) runs(vkc *valkeyv1.ValkeyCluster, to string) {
	s.T.Helper()
	s.running(vkc)
	var pods corev1.PodList
	if err := s.Client.List(s.T.Context(), &pods, client.InNamespace(vkc.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: vkc.Name}); err != nil {
		s.T.Fatal(err)
	}
	for _, p := range pods.Items {
		if got := p.Spec.Containers[0].Image; got != to {
			s.T.Errorf("%s runs %s", p.Name, got)
		}
	}
	_, version, _ := strings.Cut(to, ":")
	if !strings.HasPrefix(vkc.Status.Version, version+".") || vkc.Status.Image != to {
		s.T.Errorf("the status says %s, version %s", vkc.Status.Image, vkc.Status.Version)
	}
}
