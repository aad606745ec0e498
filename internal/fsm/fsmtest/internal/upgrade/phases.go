package upgrade

import (
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of an upgrade.
const (
	Pending     fsm.Phase = "Pending"
	PreChecks   fsm.Phase = "PreChecks"
	InProgress  fsm.Phase = "InProgress"
	RollingBack fsm.Phase = "RollingBack"
	Completed   fsm.Phase = "Completed"
	RolledBack  fsm.Phase = "RolledBack"
	Failed      fsm.Phase = "Failed"
)

// The events of an upgrade.
const (
	Reserved      fsm.Event = "Reserved"
	ChecksPassed  fsm.Event = "ChecksPassed"
	ChecksRefused fsm.Event = "ChecksRefused"
	AllCurrent    fsm.Event = "AllCurrent"
	ShardFailed   fsm.Event = "ShardFailed"
	NoWayBack     fsm.Event = "NoWayBack"
	AllBack       fsm.Event = "AllBack"
	TimedOut      fsm.Event = "TimedOut"
	EffectRefused fsm.Event = "EffectRefused"
)

// The reasons of an upgrade.
const (
	ReasonReserving       fsm.Reason = "Reserving"       // taking the cluster's reservation
	ReasonReservedByOther fsm.Reason = "ReservedByOther" // another operation works on the cluster
	ReasonNotLooked       fsm.Reason = "NotLooked"       // what is needed was not read yet
	ReasonUnhealthy       fsm.Reason = "Unhealthy"       // the cluster must be healthy to begin
	ReasonHealthy         fsm.Reason = "Healthy"         // it is
	ReasonNoReplica       fsm.Reason = "NoReplica"       // a shard without replicas cannot fail over
	ReasonShardsInTurn    fsm.Reason = "ShardsInTurn"    // the shards are at work
	ReasonAllCurrent      fsm.Reason = "AllCurrent"      // every node runs the wanted image
	ReasonAllBack         fsm.Reason = "AllBack"         // every node runs the former image again
	ReasonRollingBack     fsm.Reason = "RollingBack"     // every shard can still go back
	ReasonRestoreCapture  fsm.Reason = "RestoreCapture"  // one cannot: restore the capture
)

type input = fsm.Input[*Upgrade, World]

// Machine is the whole procedure.
var Machine = fsm.Machine[*Upgrade, World]{
	Kind:    "Upgrade",
	OneShot: true,
	Lost:    lost,
	Reflex:  keepReservation,
	Report:  report,
	Wakes: []fsm.Wake{
		{Name: "cluster", By: fsm.ByWatch},
		{Name: "valkey", By: fsm.BySampler},
		{Name: "reservations", By: fsm.ByReservation, Every: 5 * time.Second},
	},
	Lanes: &fsm.Lanes[*Upgrade, World]{
		Rules: shardRules,
		In:    []fsm.Phase{InProgress},
		Want:  shardNames,
		At:    func(u *Upgrade, lane string) *meta.Place { return &u.shard(lane).Place },
	},
	Rules: fsm.Rules[input]{
		Start: Pending,
		Holds: []fsm.Hold[input]{{Reason: ReasonReservedByOther, When: reservedByOther, Wake: "reservations"}},
		Phases: map[fsm.Phase]fsm.Rule[input]{
			Pending: {
				Doc:    "Taking the cluster's reservation.",
				Class:  fsm.Working,
				Decide: decidePending,
				On:     map[fsm.Event]fsm.Phase{Reserved: PreChecks},
			},
			PreChecks: {
				Doc:    "Waiting until the cluster is healthy.",
				Class:  fsm.Working,
				Decide: decidePreChecks,
				On:     map[fsm.Event]fsm.Phase{ChecksPassed: InProgress, ChecksRefused: Failed, TimedOut: Failed},
				Within: checkTimeout,
				Late:   TimedOut,
			},
			InProgress: {
				Doc:    "Shards are upgraded one after another.",
				Class:  fsm.Working,
				Decide: decideInProgress,
				On:     map[fsm.Event]fsm.Phase{AllCurrent: Completed, ShardFailed: RollingBack, NoWayBack: Failed},
			},
			RollingBack: {
				Doc:    "Shards return to the former image.",
				Class:  fsm.Working,
				Decide: decideRollingBack,
				On:     map[fsm.Event]fsm.Phase{AllBack: RolledBack, TimedOut: Failed, EffectRefused: Failed},
				Until:  func(in input) time.Time { return in.Now.Add(time.Duration(len(in.World.Shards)) * podTimeout) },
				Late:   TimedOut,
				Fail:   map[fsm.ErrorClass]fsm.Event{fsm.Refused: EffectRefused},
			},
			Completed:  {Doc: "Every node runs the wanted image.", Class: fsm.Done},
			RolledBack: {Doc: "Every node runs the former image.", Class: fsm.Failed},
			Failed:     {Doc: "The upgrade stopped; the reason says what to do.", Class: fsm.Failed},
		},
	},
}
