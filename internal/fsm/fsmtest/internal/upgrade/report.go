package upgrade

import "github.com/statecraft-dev/statecraft/internal/fsm"

// report asks the cluster controller for images: it alone writes StatefulSets.
// The wish becomes durable together with the phase that waits for it.
func report(out *Upgrade, in input, _ fsm.Pass) {
	for i := range out.Status.Shards {
		s := &out.Status.Shards[i]
		s.Token = ""
		// NOTE: not "in phase Pending": a chain may pass through a phase without a stop.
		if w, seen := in.World.shard(s.Name); s.FromImage == "" && seen {
			s.FromImage = w.Template
		}
		switch {
		case out.Status.Phase == RollingBack:
			s.WantImage = s.FromImage
		case s.Phase == UpgradingReplicas:
			s.WantImage = out.Spec.Image
		case (s.Phase == WaitingForSync || s.Phase == FailingOver) && out.Spec.Supervised:
			s.Token = failoverToken(out, s.Name)
		}
	}
}
