package cluster

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Volumes of servers that were removed would bring an old view of the cluster back: their claims go, once
// their pods are gone. All others stay, also when a person scales a StatefulSet by hand.

// Claim is the claim of one server's volume.
type Claim struct {
	Name     string `json:"name"`
	Shard    int    `json:"shard"`
	Ordinal  int    `json:"ordinal"`
	UID      string `json:"uid"`
	Version  string `json:"version"`            // the resourceVersion in which it was seen
	Released bool   `json:"released,omitempty"` // its server was removed for good, by proof
	Leaving  bool   `json:"leaving,omitempty"`  // it is being deleted
	Used     bool   `json:"used,omitempty"`     // the pod of its server exists
	Small    bool   `json:"small,omitempty"`    // the spec asks for more than it does
	Resizing string `json:"resizing,omitempty"` // why its volume is not as large as it asks for, "" if it is
}

// DeleteClaim removes the claim of a server that was removed for good. If it were wrong, the data of a server
// would be lost: so only a released claim in the very version that was seen goes, of which no pod exists.
type DeleteClaim struct {
	Name, Pod    string
	UID, Version string
}

// GrowClaim asks for a larger volume.
type GrowClaim struct{ Name, UID, Version string }

// KeepClaim takes back that the server of a claim was removed: it was wanted again before it went.
type KeepClaim struct{ Name, UID string }

func (KeepClaim) effect()            {}
func (e KeepClaim) String() string   { return "keep-claim " + e.Name }
func (DeleteClaim) effect()          {}
func (e DeleteClaim) String() string { return "delete-claim " + e.Name }
func (GrowClaim) effect()            {}
func (e GrowClaim) String() string   { return "grow-claim " + e.Name }

// within says that a claim is of a server that a cluster of this shape has.
func (c Claim) within(s Shape) bool { return c.Shard < len(s) && c.Ordinal <= s[c.Shard] }

// maintainClaims lets every server that the cluster has keep its volume, and no other.
func maintainClaims(in input) []fsm.Effect {
	if in.World.Reservation.State == reserve.Others {
		return nil
	}
	return slices.Concat(keepClaims(in), deleteReleasedClaims(in))
}

// deleteReleasedClaims removes the claims of servers that were removed.
func deleteReleasedClaims(in input) (effects []fsm.Effect) {
	w := in.World
	for _, c := range w.Claims {
		if c.Released && !c.Leaving && !c.Used && !c.within(w.Shape) {
			effects = append(effects, DeleteClaim{c.Name, podOf(in, c), c.UID, c.Version})
		}
	}
	return effects
}

// keepClaims takes the release of claims back whose servers stay after all.
func keepClaims(in input) (effects []fsm.Effect) {
	for _, c := range in.World.Claims {
		if c.Released && !c.Leaving && c.within(in.World.Shape) && c.within(Wanted(in.Obj)) {
			effects = append(effects, KeepClaim{c.Name, c.UID})
		}
	}
	return effects
}

func podOf(in input, c Claim) string { return fmt.Sprintf("%s-%d-%d", in.Obj.Name, c.Shard, c.Ordinal) }

// growClaims asks for volumes as large as the spec has them. A class may refuse it for ever, so nothing comes after it.
func growClaims(in input) (effects []fsm.Effect) {
	w := in.World
	if w.Reservation.State == reserve.Others {
		return nil
	}
	for _, c := range w.Claims {
		if c.Small && !c.Leaving && !c.Released && c.within(w.Shape) {
			effects = append(effects, GrowClaim{c.Name, c.UID, c.Version})
		}
	}
	return effects
}

// waitForOldClaims waits until claims are gone that servers to be added would take for their own.
func waitForOldClaims(in input) (fsm.Decision, bool) {
	w := in.World
	i := slices.IndexFunc(w.Claims, func(c Claim) bool {
		return (c.Released || c.Leaving) && c.within(Wanted(in.Obj)) && !c.within(w.Shape)
	})
	if i < 0 {
		return fsm.Decision{}, false
	}
	words := fmt.Sprintf("Waiting for claim %s to be deleted, which a removed server had.", w.Claims[i].Name)
	if effects := deleteReleasedClaims(in); len(effects) > 0 {
		return fsm.Do(ReasonOldClaims, effects...).Because("%s", words), true
	}
	return fsm.Wait(ReasonOldClaims, "children", "pods").In(recheck).Because("%s", words), true
}

// cannotWrite says that a server fails to write to its volume. It serves what it has, and refuses what clients write.
func cannotWrite(w World) (string, bool) {
	i := slices.IndexFunc(w.Nodes, func(n topology.Node) bool { return n.Server != nil && n.Server.CannotWrite })
	if i < 0 {
		return "", false
	}
	const words = "Server %s cannot write to its volume, and refuses writes of clients; if the volume is full, raise spec.persistence.size."
	return fmt.Sprintf(words, w.Nodes[i].Name), true
}

// volumeTrouble tells of volumes that are about to go, or are not yet as large as they should be.
func volumeTrouble(w World) string {
	for _, c := range w.Claims {
		switch {
		case !c.within(w.Shape):
		case c.Leaving:
			return fmt.Sprintf(" Claim %s is being deleted: its server loses its volume when its pod is replaced.", c.Name)
		case c.Resizing != "":
			return fmt.Sprintf(" The volume of claim %s is not as large as spec.persistence.size yet (%s).", c.Name, c.Resizing)
		}
	}
	return ""
}
