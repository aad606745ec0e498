package fsmtest_test

import (
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest/internal/upgrade"
)

type (
	rollout = upgrade.Upgrade
	rolling = fsm.Input[*rollout, upgrade.World]
	shard   = fsm.LaneInput[*rollout, upgrade.World]
)

// brokenShard is the upgrade's bench, with its lanes changed.
func brokenShard(plant func(*fsm.Lanes[*rollout, upgrade.World])) fsmtest.Bench[*rollout, upgrade.World] {
	b, m, lanes := upgrade.Bench(), upgrade.Machine, *upgrade.Machine.Lanes
	plant(&lanes)
	m.Lanes, b.Machine = &lanes, &m
	return b
}

// upgradeFaults are faults of lanes, and of what is done to pods.
func upgradeFaults() map[string]planted {
	hasty := brokenShard(func(l *fsm.Lanes[*rollout, upgrade.World]) {
		l.Rules = change(l.Rules, upgrade.UpgradingReplicas, func(r *fsm.Rule[shard]) {
			own := r.Decide
			r.Decide = func(in shard) fsm.Decision {
				for _, s := range in.World.Shards {
					for _, n := range s.Nodes {
						if s.Name == in.Lane && !n.Primary && n.Image != in.Obj.Spec.Image {
							return fsm.Do("ReplicaOutdated", upgrade.DeletePod{Name: n.Name, UID: n.UID}).Because("Pod %s is replaced.", n.Name)
						}
					}
				}
				return own(in)
			}
		})
	})

	untaken := brokenShard(func(l *fsm.Lanes[*rollout, upgrade.World]) {
		l.Rules = change(l.Rules, upgrade.FailingOver, func(r *fsm.Rule[shard]) { r.On["Declined"] = upgrade.Skipped })
	})

	twins := brokenShard(func(l *fsm.Lanes[*rollout, upgrade.World]) {
		own := l.Want
		l.Want = func(in rolling) []string { return append(own(in), own(in)...) }
	})

	// A lane looks at its deadline before it looks at the shard.
	lateFirst := upgrade.Bench()
	lateFirst.Step = func(in rolling) (fsm.Step[*rollout], error) {
		for _, lane := range in.Obj.Status.Shards {
			if lane.Phase == upgrade.WaitingForSync && lane.Deadline != nil && in.Now.After(lane.Deadline.Time) {
				in.World.Shards = nil
				for _, s := range upgrade.Cluster("8.1", 2, 3).Shards {
					s.Nodes[1].Synced = false
					in.World.Shards = append(in.World.Shards, s)
				}
			}
		}
		return upgrade.Machine.Step(in)
	}

	guessing := upgrade.Bench()
	guessing.Step = func(in rolling) (fsm.Step[*rollout], error) {
		in.Obj = in.Obj.DeepCopy()
		for i, lane := range in.Obj.Status.Shards {
			if _, known := upgrade.Machine.Lanes.Phases[lane.Phase]; !known {
				in.Obj.Status.Shards[i].Phase = upgrade.ShardPending
			}
		}
		return upgrade.Machine.Step(in)
	}

	// A pod is deleted by name alone: repeated on a stale view, it takes the new pod.
	byName := upgrade.Bench()
	byName.Perform = func(w upgrade.World, e fsm.Effect) upgrade.World {
		if d, ok := e.(upgrade.DeletePod); ok {
			for _, s := range w.Shards {
				for _, n := range s.Nodes {
					if n.Name == d.Name {
						e = upgrade.DeletePod{Name: n.Name, UID: n.UID}
					}
				}
			}
		}
		return upgrade.Perform(w, e)
	}

	inPlace := upgrade.Bench()
	inPlace.Settle = func(u *rollout, w upgrade.World) upgrade.World {
		if u.Status.Phase != upgrade.InProgress || len(w.Shards) == 0 || w.Shards[0].Template != u.Spec.Image {
			return upgrade.Settle(u, w)
		}
		for _, s := range w.Shards {
			for i := range s.Nodes {
				s.Nodes[i].Synced = true
			}
		}
		return w
	}

	return map[string]planted{
		"a second copy taken away":               {hasty.Explore, "takes a copy away"},
		"an edge of a lane never taken":          {untaken.Explore, "no world takes FailingOver –Declined→ Skipped"},
		"two lanes of one name":                  {twins.Explore, "two lanes of one name"},
		"the deadline of a lane before success":  {lateFirst.Late, "but late –TimedOut→ Failed"},
		"an unknown phase of a lane is guessed":  {guessing.Rollback, "guesses what lane"},
		"a delete without a UID":                 {byName.Stale, "stale"},
		"an effect that does more when repeated": {byName.Model, "does more when performed twice"},
		"a model that hides what it does":        {inPlace.Model, "Settle wrote to its input"},
	}
}
