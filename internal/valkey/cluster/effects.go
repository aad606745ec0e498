package cluster

import (
	"fmt"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/proof"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Effect is what a cluster's controller may do.
//
//sumtype:decl
type Effect interface {
	fmt.Stringer
	effect()
}

// ApplyChild makes a child what the spec has it be. UID is that of the child that was
// seen, "" if there was none: somebody else's is not adopted.
type ApplyChild struct {
	Child Ref
	UID   string
	// Of a StatefulSet: its shard, and how many replicas that has.
	Shard, Replicas int
	// Keep leaves the template of its pods as it is, whatever the spec says by now: any
	// pod that is lost comes back by it. Of a ConfigMap it leaves the settings as they are that
	// are changed while servers run.
	Keep bool
	// Template is the one that an upgrade asks for, or Closed for a disruption budget; "" is
	// that of the spec.
	Template, Upgrade string
	Open              bool // a disruption budget is opened again
	// Image is what a new shard runs, because all others do; "" is that of the spec.
	Image string
	// Edited tells what a person changed, and what is undone by this.
	Edited string
	// Proof allows to make a shard narrower: the pods that go hold nothing.
	Proof plan.ShrinkProof
}

// RemoveShard deletes the very StatefulSet that was seen. If it were wrong, the data of
// a shard would be lost.
type RemoveShard struct {
	Child        Ref
	Shard        int
	UID, Version string
	Proof        plan.ShrinkProof
}

// MoveSlots begins to move slots until the first shards own all of them in equal
// shares. It goes on beside the passes.
type MoveSlots struct {
	Shards int
	At     []Place
}

// Place is a server and the shard that it is of.
type Place struct {
	Member
	Shard int
}

// Reset lets a server without slots forget all others and what it replicates. If it
// were wrong, a copy of the data would be lost.
type Reset struct{ At Member }

// Forget lets servers forget others, each of them all that it knows of these: one by one would
// be as many looks as there are pairs. If it were wrong, those who forget the owner of slots
// would not serve any more.
type Forget struct {
	At    []Member
	IDs   []string
	Proof plan.ForgetProof
}

// ForgetSlotOwner lets servers forget an owner of slots whose data is gone. If it were wrong, its slots
// would be given to a server without their keys.
type ForgetSlotOwner struct {
	At    []Member
	ID    string
	Proof plan.ForgetSlotOwnerProof
}

// Failover lets a replica take over from its primary. If it were wrong, what the
// replica lacks would be lost.
type Failover struct {
	At, From Member
	// Gone are the pods that must not run for a primary not to be asked, Refusing those that must
	// refuse connections.
	Gone, Refusing []string
	Proof          plan.FailoverProof
}

// RaiseEpoch lets a primary take an epoch above this one, so that its replica is believed again by
// who took that one for a primary under it. If it were wrong, a replica that was elected in its
// place, or the new owner of a slot, would lose what was written since.
type RaiseEpoch struct {
	At, For Member
	Above   int64
	Proof   plan.EpochProof
}

// Meet introduces servers to others. It joins clusters into one, so if it were
// wrong, two of them with data would fight over slots.
type Meet struct{ Introductions []Introduction }

// Introduction is one server that makes itself known to some.
type Introduction struct {
	Of Member
	To []Member
}

// AddSlots gives slots that nobody owns to a server that holds nothing. If it were
// wrong, two servers would own them, and the keys of one be lost.
type AddSlots struct {
	At    Member
	Slots topology.Slots
}

// Replicate makes a server that holds nothing the replica of another. If it were
// wrong, what it holds would be wiped.
type Replicate struct{ At, Primary Member }

// DeletePod deletes the very pod that was seen, so that it returns by the newest
// template. If it were wrong, what its server holds would be lost.
type DeletePod struct{ Name, UID, Version string }

// SetNodeTimeout sets how long servers let another be out of reach. Lowered under
// load, it would have replicas take over from primaries that live.
type SetNodeTimeout struct {
	At      []Member
	Timeout time.Duration
}

// MarkFormed notes on the ConfigMap with this UID that data may exist from now on.
type MarkFormed struct{ UID string }

// ForgetData takes that note back, because all data is lost and the user wants an empty
// cluster then. If it were wrong, slots would be given anew over data.
type ForgetData struct{ UID string }

// MakePasswords makes what the operator itself keeps for servers to start with, unless there
// is any: the passwords of its own users, and a copy of the user's certificates.
type MakePasswords struct{}

// MakeUpgrade asks for an upgrade to what the spec says.
type MakeUpgrade struct{ Name, Image string }

// DeleteUpgrade deletes the very upgrade that was seen at its end, or that a newer spec replaces. If it were wrong, one
// that is under way would be left in the middle.
type DeleteUpgrade struct{ Name, UID, Version string }

// Member is one server: the pod it runs in, where, what it is called, and the mark of its pod.
type Member struct{ Pod, Addr, ID, Mark string }

func (ApplyChild) effect()      {}
func (Meet) effect()            {}
func (AddSlots) effect()        {}
func (Replicate) effect()       {}
func (SetNodeTimeout) effect()  {}
func (DeletePod) effect()       {}
func (MarkFormed) effect()      {}
func (ForgetData) effect()      {}
func (MakeUpgrade) effect()     {}
func (MakePasswords) effect()   {}
func (DeleteUpgrade) effect()   {}
func (RemoveShard) effect()     {}
func (MoveSlots) effect()       {}
func (Reset) effect()           {}
func (Forget) effect()          {}
func (ForgetSlotOwner) effect() {}
func (Failover) effect()        {}
func (RaiseEpoch) effect()      {}

// A command goes to a Valkey server.
func (Meet) command()            {}
func (AddSlots) command()        {}
func (Replicate) command()       {}
func (Reset) command()           {}
func (Forget) command()          {}
func (ForgetSlotOwner) command() {}
func (Failover) command()        {}
func (RaiseEpoch) command()      {}

// So does what moves slots, and removing a shard is as grave.
func (MoveSlots) command()   {}
func (RemoveShard) command() {}

func (MarkFormed) String() string      { return "mark-formed" }
func (ForgetData) String() string      { return "forget-data" }
func (MakePasswords) String() string   { return "make-passwords" }
func (e MakeUpgrade) String() string   { return "make-upgrade " + e.Name }
func (e DeleteUpgrade) String() string { return "delete-upgrade " + e.Name }
func (e ApplyChild) String() string {
	if e.Open {
		return "open " + e.Child.String()
	}
	if e.Template != "" {
		return "apply " + e.Child.String() + " as " + e.Template
	}
	if e.Edited != "" {
		return "undo edits of " + e.Child.String()
	}
	return "apply " + e.Child.String()
}

// News implements kube.Teller.
func (e ApplyChild) News() (fsm.Reason, string) {
	if e.Edited == "" {
		return "", ""
	}
	return ReasonEditUndone, fmt.Sprintf("Undid an edit of %s: %s. Edit the ValkeyCluster instead, or set spec.paused first.", e.Child, e.Edited)
}
func (e AddSlots) String() string    { return fmt.Sprintf("add-slots %s %s", e.At.Pod, e.Slots) }
func (e DeletePod) String() string   { return "delete-pod " + e.Name }
func (e RemoveShard) String() string { return "remove " + e.Child.String() }
func (e MoveSlots) String() string   { return fmt.Sprintf("move-slots to %d shards", e.Shards) }
func (e Reset) String() string       { return "reset " + e.At.Pod }
func (e Failover) String() string {
	if e.Proof != nil && e.Proof.Forced() {
		return fmt.Sprintf("failover %s from %s, which has ended", e.At.Pod, e.From.ID)
	}
	return fmt.Sprintf("failover %s from %s", e.At.Pod, e.From.Pod)
}

// mostNamed is how many servers an effect names.
const mostNamed = 2

func (e Forget) String() string {
	if n := len(e.IDs); n > mostNamed {
		return fmt.Sprintf("forget %d at %d servers", n, len(e.At))
	}
	return fmt.Sprintf("forget %s at %d servers", strings.Join(e.IDs, " "), len(e.At))
}
func (e RaiseEpoch) String() string { return fmt.Sprintf("raise-epoch %s for %s", e.At.Pod, e.For.Pod) }
func (e ForgetSlotOwner) String() string {
	return fmt.Sprintf("forget-slot-owner %s at %d servers", e.ID, len(e.At))
}
func (e SetNodeTimeout) String() string {
	return fmt.Sprintf("set-node-timeout %s at %d servers", e.Timeout, len(e.At))
}
func (e Replicate) String() string {
	return fmt.Sprintf("replicate %s from %s", e.At.Pod, e.Primary.Pod)
}

// A large cluster has thousands of pairs: their number must do.
func (e Meet) String() string {
	pairs := 0
	for _, i := range e.Introductions {
		pairs += len(i.To)
	}
	return fmt.Sprintf("meet %d pairs", pairs)
}

func memberOf(n topology.Node) Member {
	return Member{Pod: n.Name, Addr: n.Addr, ID: n.Server.ID, Mark: n.Server.Mark}
}

// Evidence implements fsm.Proven.
func (e Forget) Evidence() string { return plan.Evidence(e.Proof) }

// Evidence implements fsm.Proven.
func (e ForgetSlotOwner) Evidence() string { return plan.Evidence(e.Proof) }

// Evidence implements fsm.Proven.
func (e Failover) Evidence() string { return plan.Evidence(e.Proof) }

// Evidence implements fsm.Proven.
func (e RaiseEpoch) Evidence() string { return plan.Evidence(e.Proof) }

// Evidence implements fsm.Proven.
func (e RemoveShard) Evidence() string { return plan.Evidence(e.Proof) }

// Subjects implements proof.Bound.
func (e RemoveShard) Subjects() []proof.Subject { return plan.Subjects(e.Proof) }

// Evidence implements fsm.Proven.
func (e ApplyChild) Evidence() string { return plan.Evidence(e.Proof) }

// Subjects implements proof.Bound.
func (e ApplyChild) Subjects() []proof.Subject { return plan.Subjects(e.Proof) }
