package upgrade

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/proof"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Effect is what an upgrade may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// DeletePod deletes the very pod that was seen, so that it returns by the template that its
// StatefulSet bears. If it were wrong, a copy of the shard, or the only one, would be lost.
type DeletePod struct {
	Name, UID, Version string
	// Set is the StatefulSet, Template what it must bear, and Revision what that template
	// makes: a pod that has it already stays.
	Set, Template, Revision string
	Proof                   plan.PodProof
}

// Failover lets a replica take over from its primary. If it were wrong, what the replica
// lacks would be lost.
type Failover struct {
	To, From Member
	Proof    plan.FailoverProof
}

// Member is one server: the pod it runs in, where, what it is called, and the mark of its pod.
type Member struct{ Pod, Addr, ID, Mark string }

func (DeletePod) effect() {}
func (Failover) effect()  {}

func (e DeletePod) String() string { return "delete-pod " + e.Name }
func (e Failover) String() string  { return fmt.Sprintf("failover %s from %s", e.To.Pod, e.From.Pod) }

func memberOf(n topology.Node) Member {
	return Member{Pod: n.Name, Addr: n.Addr, ID: n.Server.ID, Mark: n.Server.Mark}
}

// Evidence implements fsm.Proven.
func (e DeletePod) Evidence() string { return plan.Evidence(e.Proof) }

// Subjects implements proof.Bound.
func (e DeletePod) Subjects() []proof.Subject { return plan.Subjects(e.Proof) }

// Evidence implements fsm.Proven.
func (e Failover) Evidence() string { return plan.Evidence(e.Proof) }
