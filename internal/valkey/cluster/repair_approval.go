package cluster

import (
	"fmt"
	"slices"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// A shard may be silent, and one of its servers may run all the same: it hangs, or its node is out of reach. An edit that
// puts it right reaches it only by replacing its pods, and what such a server holds would be lost: a person must approve
// exactly that.

// silentFor is how long a cluster is degraded before a person is asked: a server may be busy for a while.
const silentFor = time.Minute

// silentShard is a shard of which no server answers, and whose pods are not what the edited spec asks for.
type silentShard struct {
	child  Child
	edited bool           // its template is not yet what the spec asks for
	pods   topology.Nodes // those that would be replaced
	token  string         // of this very template and these very pods
}

// findSilentShard is the first one that a person may let the manager replace.
func findSilentShard(in input) (s silentShard, is bool) {
	w := in.World
	if !w.Formed || in.Obj.Spec.Paused || len(w.Nodes) != w.Shape.Nodes() || in.Now.Sub(in.Obj.Status.Since.Time) < silentFor {
		return s, false
	}
	for _, c := range statefulSets(w) {
		shard := w.Nodes.Shard(c.Shard)
		ours := mayRepair(in, c.Shard) || leavesToUs(in, c.Shard, upgradeWaits, upgradeChecks)
		if !ours || stopped(shard) || !isSilent(shard) {
			continue
		}
		if s = replacing(in, c, shard); len(s.pods) > 0 {
			return s, true
		}
	}
	return silentShard{}, false
}

// replacing is what becomes of a silent shard: all its pods are replaced if the template is edited, else those of another one.
func replacing(in input, c Child, shard topology.Nodes) silentShard {
	s := silentShard{child: c, edited: !c.Current && !hasTemplate(c, in.World.Template)}
	what := []string{string(in.Obj.UID), "replace", c.Name, in.World.Template}
	for _, n := range shard {
		if n.UID != "" && (s.edited || n.Outdated) {
			s.pods, what = append(s.pods, n), append(what, n.UID)
		}
	}
	s.token = plan.Token(what...)
	return s
}

// isSilent says that no server of a shard answers, that none is ready, and that none is on its way out.
func isSilent(shard topology.Nodes) bool {
	return len(shard) > 0 && !slices.ContainsFunc(shard, func(n topology.Node) bool { return n.Server != nil || n.Ready || n.Leaving || n.Stray })
}

// replaceSilentShard brings a shard that does not answer to the edited spec, once a person has approved that.
//
// NOTE: what would be lost is what its servers hold in memory, if one of them runs: of that the person was told.
func replaceSilentShard(in input) (fsm.Decision, bool) {
	s, is := findSilentShard(in)
	if !is || in.Obj.Annotations[valkeyv1.ApproveAnnotation] != s.token {
		return fsm.Decision{}, false
	}
	var effects []fsm.Effect
	if s.edited {
		image, _ := wantedImage(in)
		effects = append(effects, ApplyChild{Child: s.child.Ref, UID: s.child.UID, Shard: s.child.Shard, Replicas: in.World.Shape[s.child.Shard], Image: image})
	} else {
		for _, n := range s.pods {
			effects = append(effects, DeletePod{n.Name, n.UID, n.Version})
		}
	}
	return fsm.Do(ReasonRepairing, effects...).Because("A person approved that the pods of shard %d, which does not answer, are replaced by what the spec asks for.", s.child.Shard), true
}

// askToReplace asks a person whether the pods of a shard that does not answer may be replaced.
func askToReplace(in input) (words string, is bool) {
	s, is := findSilentShard(in)
	if !is {
		return "", false
	}
	lost := "all that it holds"
	if in.Obj.Spec.Persistence.Enabled {
		lost = "what it has not written to its volume"
	}
	return fmt.Sprintf("No server of shard %d answers, and the edited spec does not reach it, because a server of its pods may still run. If you approve with `%s`, "+
		"the manager replaces %d pods, from %s on: of a server that runs in one of them, %s is lost.",
		s.child.Shard, plan.Approve("vkc", in.Obj.Namespace, in.Obj.Name, s.token), len(s.pods), s.pods[0].Name, lost), true
}
