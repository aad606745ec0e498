package valkey

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// openUpgrades is the story of a cluster whose servers all get another version.
func openUpgrades(w *sim.World) *sim.Play {
	s := newStory(w)
	play := s.upgrades(newerImage, upgrade.Completed)
	play.End = func(found []*unstructured.Unstructured) error {
		if err := s.upgraded(upgrade.Completed); err != nil {
			return err
		}
		return errors.Join(s.runsOn(found, "9.1.2"), s.replaced(found, 6))
	}
	play.Others = append(play.Others, sim.Other{
		Name: "rolled back: ten minutes are more than a pod may take", Faults: []sim.Fault{sim.ClockJump},
		Is: func() bool { return s.endedOtherwise(upgrade.RolledBack, "") },
	})
	return play
}

// openGoesBack is the story of an upgrade to an image that cannot be had. When it has gone
// back, the cluster makes an upgrade of its own, which changes no pod: the shard is to bear
// again that it is as the spec asks.
func openGoesBack(w *sim.World) *sim.Play {
	s := newStory(w)
	play := s.upgrades(brokenImage, upgrade.RolledBack)
	s.upgrade.Spec.PodReadyTimeoutSeconds = 60
	play.Steps[1].Until = func() error { return errors.Join(s.upgraded(upgrade.RolledBack), s.blames("ImagePullBackOff")) }
	play.End = func(found []*unstructured.Unstructured) error {
		if err := s.upgraded(upgrade.RolledBack); err != nil {
			return err
		}
		return errors.Join(s.runsOn(found, "8.1.1"), s.replaced(found, 1))
	}
	play.Others = append(play.Others, sim.Other{
		Name: "failed: ten minutes are more than a pod may take on the way back, too", Faults: []sim.Fault{sim.ClockJump},
		Is: func() bool { return s.endedOtherwise(upgrade.Failed, upgrade.ReasonRollbackFailed) },
	}, sim.Other{
		// Or who gives up has not heard yet: its cache begins in the past.
		Name: "rolled back before anybody knew why the pod does not come, or before it went", Faults: []sim.Fault{sim.ClockJump, sim.RewoundOthers},
		Is: func() bool { return s.upgraded(upgrade.RolledBack) == nil && s.endedOtherwise(upgrade.RolledBack, "") },
	})
	return play
}

// blames says whether the upgrade was given up because of this.
func (s *story) blames(what string) error {
	u := s.upgrade.DeepCopy()
	if s.world.Find(u); u.Status.Failure == nil || !strings.Contains(u.Status.Failure.Message, what) {
		return fmt.Errorf("the upgrade does not blame %s: %+v", what, u.Status.Failure)
	}
	return nil
}

// upgrades is what both have in common: a cluster stands, and is upgraded.
func (s *story) upgrades(image string, end fsm.Phase) *sim.Play {
	u := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "newer"}}
	u.Spec.ClusterRef.Name, u.Spec.Image = s.cluster.Name, image
	s.upgrade = u
	play := s.play()
	play.Main = sim.Ref{GroupVersionKind: upgradeKind, Key: read.Key{Namespace: u.Namespace, Name: u.Name}}
	play.Phase, play.Always = stage, s.always
	play.Steps = []sim.Step{
		{Name: "make a cluster", Do: func(ctx context.Context) error { return s.world.Client.Create(ctx, s.cluster) }, Until: s.runs, Calm: true},
		{Name: "upgrade it", Do: func(ctx context.Context) error {
			s.stands, s.before = true, s.uids(s.world.All(podKind))
			return s.world.Client.Create(ctx, u.DeepCopy())
		}, Until: func() error { return s.upgraded(end) }},
	}
	play.Others = []sim.Other{
		{
			Name: "failed: it was begun, and that was forgotten", Faults: []sim.Fault{sim.Wiped},
			Is: func() bool { return s.endedOtherwise(upgrade.Failed, "StatusLost") },
		},
		{
			Name: "failed: the cluster was not whole for ten minutes", Faults: []sim.Fault{sim.ClockJump},
			Is: func() bool { return s.endedOtherwise(upgrade.Failed, upgrade.ReasonUnhealthy) },
		},
	}
	return play
}

// stage tells apart what an upgrade does: its phase, and that of the shard whose turn it is.
// Shards are alike, so the first and the last call of a stage are of the first and the last.
func stage(obj *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	shards, _, _ := unstructured.NestedSlice(obj.Object, "status", "shards")
	if upgrade.Ended(fsm.Phase(phase)) {
		return phase
	}
	if phase == string(upgrade.RollingBack) {
		slices.Reverse(shards)
	}
	for _, shard := range shards {
		lane, _, _ := unstructured.NestedString(shard.(map[string]any), "phase")
		if !slices.Contains([]fsm.Phase{upgrade.ShardCompleted, upgrade.Skipped, upgrade.ShardPending, ""}, fsm.Phase(lane)) {
			return phase + "-" + lane
		}
	}
	return phase
}

// upgraded says that the upgrade came to an end, and that the cluster has noticed.
func (s *story) upgraded(end fsm.Phase) error {
	u := s.upgrade.DeepCopy()
	switch found := s.world.Find(u); {
	case !found:
		return fmt.Errorf("the upgrade is gone")
	case u.Status.Phase != end:
		return fmt.Errorf("the upgrade is %q: %s %s; %s", u.Status.Phase, reasonOf(u), u.Status.WaitingFor, s.kubelet)
	}
	c := s.cluster.DeepCopy()
	if s.world.Find(c); c.Status.Phase != cluster.Running || c.Status.CurrentOperation != "" {
		return fmt.Errorf("the cluster is %q, and %q: %s", c.Status.Phase, c.Status.CurrentOperation, c.Status.WaitingFor)
	}
	return nil
}

// endedOtherwise says that the upgrade was given up in a way that it may, and that the
// cluster serves. What a pod of it has come to is for another upgrade to put right.
func (s *story) endedOtherwise(phase fsm.Phase, reason fsm.Reason) bool {
	u := s.upgrade.DeepCopy()
	count, _, contested := s.kubelet.answering().Assigned()
	return s.world.Find(u) && u.Status.Phase == phase && (reason == "" || reasonOf(u) == reason) &&
		count == topology.TotalSlots && !contested && len(s.servers.Lost()) == 0
}

// reasonOf is why the upgrade is in its phase.
func reasonOf(u *valkeyv1.ValkeyUpgrade) (reason fsm.Reason) {
	for _, move := range u.Status.History {
		reason = move.Reason
	}
	return reason
}

// uids are those of pods, by name.
func (s *story) uids(found []*unstructured.Unstructured) map[string]types.UID {
	uids := map[string]types.UID{}
	for _, obj := range found {
		if obj.GetKind() == podKind.Kind {
			uids[obj.GetName()] = obj.GetUID()
		}
	}
	return uids
}

// replaced says that so many pods are others than before. How many were deleted is
// compared besides, so none was replaced twice.
func (s *story) replaced(found []*unstructured.Unstructured, want int) error {
	others := 0
	for name, uid := range s.uids(found) {
		if s.before[name] != uid {
			others++
		}
	}
	if others != want {
		return fmt.Errorf("%d pods were replaced, not %d", others, want)
	}
	return nil
}

// runsOn says that all servers have a version, and serve all slots and all that was written.
func (s *story) runsOn(found []*unstructured.Unstructured, version string) error {
	if err := s.served(found, 6); err != nil {
		return err
	}
	nodes, err := s.ask(found)
	for _, n := range nodes {
		if n.Server.Version != version {
			return fmt.Errorf("%s runs %s", n.Name, n.Server.Version)
		}
	}
	if lost := s.servers.Lost(); len(lost) > 0 {
		return fmt.Errorf("writes to slots %v are lost", lost)
	}
	return err
}

// ownUpgrade is the name of an upgrade that the cluster makes, in which the template is.
var ownUpgrade = regexp.MustCompile(`\bweb-[0-9a-f]{8}\b`)

// equalUpgrade leaves out what names the owner's UID or the namespace by a hash, and how
// long things took.
func equalUpgrade(obj *unstructured.Unstructured) {
	obj.SetName(ownUpgrade.ReplaceAllString(obj.GetName(), "web-TEMPLATE"))
	unstructured.RemoveNestedField(obj.Object, "status", "template")
	shards, _, _ := unstructured.NestedSlice(obj.Object, "status", "shards")
	for _, shard := range shards {
		for _, field := range []string{"wantTemplate", "fromRevision", "syncElapsedSeconds"} {
			unstructured.RemoveNestedField(shard.(map[string]any), field)
		}
	}
	_ = unstructured.SetNestedSlice(obj.Object, shards, "status", "shards")
}
