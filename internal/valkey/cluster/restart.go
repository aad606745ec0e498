package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/maintenance"
)

// A restart that only the operator wants begins in a few clusters at a time, each of which holds a place, and within the
// windows of its cluster. Where one fails, its cluster keeps the place: what broke one would break the next.

// BeginRestart takes a place, and makes the upgrade that brings servers to what this operator makes of the spec. Without
// the place nothing is made: if it were wrong, a release that breaks servers would break those of all clusters.
type BeginRestart struct {
	Place int
	MakeUpgrade
}

func (BeginRestart) effect() {}
func (e BeginRestart) String() string {
	return fmt.Sprintf("begin-restart %s in place %d", e.Name, e.Place)
}

// restart is one that only the operator wants: that it begins in a place, or what it waits for.
type restart struct {
	place  int // 0 is that it does not begin now
	image  string
	reason fsm.Reason
	words  string
	wakes  []string
	after  time.Duration
}

// pendingRestart is the restart that only the operator wants, if there is one.
func pendingRestart(in input) (r restart, is bool) {
	if _, outdated := editedShard(in.World); !outdated || !in.World.Formed || editedByUser(in) {
		return restart{}, false
	}
	for _, of := range []func(input) restart{requested, unfit, outOfTime} {
		if r := of(in); r.reason != "" {
			return r, true
		}
	}
	return inPlace(in), true
}

// requested is a restart that was made, and did not end well or not yet.
func requested(in input) restart {
	name := ownName(in)
	i := slices.IndexFunc(in.World.Own, func(u OwnUpgrade) bool { return u.Name == name })
	switch {
	case i < 0:
		return restart{}
	case in.World.Own[i].Phase == completed:
		return restart{reason: ReasonRestartHeld, words: fmt.Sprintf("ValkeyUpgrade %s has restarted others than these; delete it to try again.", name)}
	case in.World.Own[i].Ended:
		return restart{reason: ReasonRestartFailed, words: fmt.Sprintf("ValkeyUpgrade %s, which was to restart them, ended in phase %s: read its message, and delete it to try again.",
			name, in.World.Own[i].Phase)}
	}
	return restart{reason: ReasonRestarting, words: fmt.Sprintf("ValkeyUpgrade %s restarts them.", name)}
}

// unfit is a cluster in which nothing unasked is to begin. One whose restart was left half way, or failed with an
// earlier version of the operator, is not waited for to be well: this version may be what makes it so.
func unfit(in input) restart {
	w, waits := in.World, restart{reason: ReasonRestartHeld}
	_, known := wantedImage(in)
	begun := slices.ContainsFunc(w.Own, func(u OwnUpgrade) bool { return u.Phase != completed })
	switch _, lacks := w.lacks(); {
	case in.Obj.Spec.Paused:
		waits.words = "The cluster is paused; unset spec.paused, and the manager restarts them."
	case !known:
		waits.words = differentImages
	case toRepair(w):
		waits.words = "The restart waits for a shard of which no server runs."
	case !mayRestart(in):
		waits.words = "The restart waits for a change of size that the spec asks for."
	case w.Reservation.State != reserve.Free && w.Reservation.State != reserve.Ours && !ownUnderWay(w):
		waits.words = "The restart waits for the operation that has reserved the cluster."
	case !begun && (lacks || in.Obj.Status.Phase != Running):
		waits.words = "The restart waits for the cluster to be well."
	default:
		return restart{}
	}
	return waits
}

// Phases of an upgrade: in the first two it has changed nothing, in the last it has done what it was made for.
const (
	upgradeWaits   = "Pending"
	upgradeChecks  = "PreChecks"
	upgradeWorking = "InProgress"
	completed      = "Completed"
)

// outOfTime is a restart that waits for a window. One that has begun goes on.
func outOfTime(in input) restart {
	windows := maintenance.At(in.Obj.Spec.Maintenance, in.Now)
	waits := restart{reason: ReasonOutsideWindow, wakes: []string{windowWake.Name}}
	switch {
	case windows.Open || ownUnderWay(in.World):
		return restart{}
	case windows.Doubt != "":
		waits.words = fmt.Sprintf("No maintenance window opens: %s; correct spec.maintenance.", windows.Doubt)
	default:
		waits.after = windows.Next.Sub(in.Now)
		waits.words = fmt.Sprintf("The restart waits for the maintenance window, which opens at %s %s.",
			windows.Next.Format("2006-01-02 15:04"), cmp.Or(in.Obj.Spec.Maintenance.TimeZone, "UTC"))
	}
	return waits
}

// inPlace begins in a place that is the cluster's own or free, and else waits for one.
func inPlace(in input) restart {
	places := in.World.Places
	waits := restart{reason: ReasonAwaitingTurn, wakes: []string{TurnWake.Name}}
	if len(places) == 0 {
		waits.reason, waits.words = ReasonRestartHeld, "The manager restarts no cluster by itself: create a ValkeyUpgrade without spec.image."
		return waits
	}
	find := func(is func(RestartPlace) bool) int { return slices.IndexFunc(places, is) }
	at := find(func(p RestartPlace) bool { return p.State == reserve.Ours })
	if failed := find(func(p RestartPlace) bool { return p.Failed }); at < 0 && failed >= 0 {
		waits.reason = ReasonRestartsStopped
		waits.words = fmt.Sprintf("The restart of %s failed, so the manager does not go on with others; put that cluster right first.", places[failed].Holder)
		return waits
	}
	if at < 0 {
		at = find(func(p RestartPlace) bool { return p.State == reserve.Free })
	}
	if at < 0 {
		waits.words = "The restart waits for its turn: " + atATime(len(places))
		return waits
	}
	image, _ := wantedImage(in)
	return restart{place: places[at].Number, image: image, reason: ReasonRestarting, words: "The manager restarts them."}
}

// atATime names no holder: with every turn all that wait would write another status.
func atATime(places int) string {
	if places == 1 {
		return "at most one cluster is restarted at a time; kubectl get valkeyupgrades -A shows which."
	}
	return fmt.Sprintf("at most %d clusters are restarted at a time; kubectl get valkeyupgrades -A shows which.", places)
}

// restartForOperator begins a restart that only the operator wants, if it may.
func restartForOperator(in input, r restart) (effects []fsm.Effect) {
	name := ownName(in)
	if r.place > 0 {
		effects = append(effects, BeginRestart{r.place, MakeUpgrade{name, r.image}})
	}
	// What was begun for an earlier version, or failed with it, is evidence until this one has begun: another may get the place.
	if upgradeRequested(in) {
		effects = append(effects, removeFormerUpgrades(in, name)...)
	}
	return effects
}

// What a restart that waits is woken by. A place that is free wakes few of those that wait, so all look by themselves,
// too. The opening of a window is a time of its own.
var (
	// TurnWake tells that a place changed hands.
	TurnWake   = fsm.Wake{Name: "restarts", By: fsm.ByReservation, Every: time.Minute}
	windowWake = fsm.Wake{Name: "window", By: fsm.ByTimer, Every: time.Hour}
)

// awaitRestart lets a wait end also when a restart may begin.
func awaitRestart(in input, d fsm.Decision) fsm.Decision {
	r, pending := pendingRestart(in)
	if !pending || !d.Waits() {
		return d
	}
	d.Wakes = append(slices.Clone(d.Wakes), r.wakes...)
	if r.after > 0 && (d.After == 0 || r.after < d.After) {
		d = d.In(r.after)
	}
	return d
}
