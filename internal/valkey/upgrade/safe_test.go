package upgrade

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// safe is what must hold of every step, whatever the World.
func safe(in input, s fsm.Step[*valkeyv1.ValkeyUpgrade]) error {
	for _, h := range s.Hops {
		if err := errors.Join(safeHop(in, s.Obj, h), safeSurge(in, s.Obj, h)); err != nil {
			return err
		}
	}
	if len(s.Decision.Do) > 1 {
		return errors.New("does two things at once")
	}
	for _, e := range s.Decision.Do {
		if err := errors.Join(safeWriter(in, e), safeDelete(in, e), safeFailover(in, s, e)); err != nil {
			return fmt.Errorf("%s: %w", e, err)
		}
	}
	return nil
}

// safeHop: a shard begins only after those before it, and nothing is called done that is not.
func safeHop(in input, u *valkeyv1.ValkeyUpgrade, h fsm.Hop) error {
	if h.Lane != "" && h.To == UpgradingReplicas && h.From == ShardPending {
		index, _ := strconv.Atoi(h.Lane)
		for _, other := range u.Status.Shards {
			ended := other.Phase == ShardCompleted || other.Phase == Skipped
			if in.Obj.Status.Phase == InProgress && int(other.Index) < index && !ended {
				return fmt.Errorf("shard %d begins before shard %d has ended", index, other.Index)
			}
			if in.Obj.Status.Phase == RollingBack && other.WantTemplate != "" && int(other.Index) > index && !ended {
				return fmt.Errorf("shard %d goes back before shard %d has", index, other.Index)
			}
		}
	}
	if h.To == InProgress && in.Obj.Spec.CaptureFirst && len(in.World.Captures.in(Captured)) < len(in.World.Shards) {
		return errors.New("begins before all volumes are captured")
	}
	_, healthy := in.World.healthy()
	_, old := outdatedPod(in.World.Nodes)
	if h.Lane == "" && h.To == Completed && (!healthy || old) {
		return errors.New("calls done what is not")
	}
	return nil
}

// safeWriter: nothing is done on a cluster that is paused, goes, or is another's.
func safeWriter(in input, e fsm.Effect) error {
	c := in.World.Cluster
	if c.Paused || c.Deleting || c.Sight != presence.Here || in.Obj.DeletionTimestamp != nil {
		return errors.New("acts on a cluster that is paused or goes")
	}
	if _, takes := e.(reserve.Take); !takes && in.World.Reservation.State != reserve.Ours {
		return errors.New("acts without the reservation")
	}
	return nil
}

// safeDelete: a pod that goes is outdated, owns nothing in anybody's view, and was never
// needed or is one of several copies of which all others are there.
func safeDelete(in input, effect fsm.Effect) error {
	e, is := effect.(DeletePod)
	if !is {
		return nil
	}
	i := slices.IndexFunc(in.World.Nodes, func(n topology.Node) bool { return n.Name == e.Name && n.UID == e.UID && n.UID != "" })
	if e.Proof == nil || !e.Proof.Of(plan.Pod(e.Name, e.UID)) {
		return errors.New("deletes without a proof")
	}
	if i < 0 || !in.World.Nodes[i].Outdated || in.World.Nodes[i].Leaving {
		return errors.New("deletes what is not outdated, or goes already")
	}
	set, _ := in.World.shard(in.World.Nodes[i].Shard)
	if rec := record(in.Obj, set.Index); set.Template != rec.WantTemplate || !set.Settled || e.Revision != set.Revision {
		return errors.New("deletes before the template is there")
	}
	return errors.Join(safeCopies(in, in.World.Nodes[i]), safeNumber(in, in.World.Nodes[i]))
}

func safeCopies(in input, gone topology.Node) error {
	if gone.NeverRan {
		return nil
	}
	for _, n := range in.World.Nodes {
		if n.Name == gone.Name {
			continue
		}
		if n.Server == nil && (n.Shard == gone.Shard || in.Obj.Status.Phase == InProgress && !isBroken(n)) {
			return errors.New("takes a second pod away")
		}
		if n.Shard == gone.Shard && n.Server.Self().Follows != "" && !n.Server.Synced {
			return errors.New("takes a copy away while another is behind")
		}
		if n.Server != nil && gone.Server != nil {
			if p, known := n.Server.Peer(gone.Server.ID); known && p.Slots != "" && n.Server.Self().Slots != "" {
				return errors.New("takes away what a voter sees with slots")
			}
		}
	}
	if gone.Server != nil && gone.Server.Self().Slots != "" {
		return errors.New("takes a primary away")
	}
	return nil
}

// safeFailover: who takes over is proven, runs what is wanted, is asked once and not too soon,
// and under supervision approved.
func safeFailover(in input, step fsm.Step[*valkeyv1.ValkeyUpgrade], effect fsm.Effect) error {
	e, is := effect.(Failover)
	if !is {
		return nil
	}
	to, found := in.World.Nodes.ByID(e.To.ID)
	if e.Proof == nil || !e.Proof.Of(plan.Server(e.To.ID)) || e.Proof.Forced() || !found || to.Outdated {
		return errors.New("fails over without a proof")
	}
	rec := record(in.Obj, to.Shard)
	if step.Lane != strconv.Itoa(to.Shard) || rec.Phase != FailingOver {
		return errors.New("fails over before that is saved")
	}
	after, afterFailure := in.World.Nodes.Spacing()
	if rec.FailedFailovers > 0 {
		after = afterFailure
	}
	if rec.LastFailover != nil && in.Now.Sub(rec.LastFailover.Time) < after {
		return errors.New("fails over too soon after the last one")
	}
	if rec.LastFailover != nil && !rec.LastFailover.Time.Before(rec.Since.Time) {
		return errors.New("asks twice")
	}
	lane := laneOf(in, rec)
	if isSupervised(lane) && in.Obj.Annotations[valkeyv1.ApproveAnnotation] != tokenOf(lane, viewOf(lane), to) {
		return errors.New("fails over without approval")
	}
	return nil
}
