package enforce

import "github.com/statecraft-dev/statecraft/internal/fsm"

// The phases of a lane.
const (
	Steady  fsm.Phase = "steady"
	Rising  fsm.Phase = "rising"
	Falling fsm.Phase = "falling"
	Cooling fsm.Phase = "cooling"
	Yielded fsm.Phase = "yielded"
)

// The events of a lane.
const (
	MoreWanted  fsm.Event = "MoreWanted"      // more replicas are recommended than are applied
	FewerWanted fsm.Event = "FewerWanted"     // fewer are
	NoneWanted  fsm.Event = "NoneWanted"      // no change is, any more
	Applied     fsm.Event = "Applied"         // the target is applied
	StepApplied fsm.Event = "StepApplied"     // a part of the way to the target is
	CoolingDown fsm.Event = "CoolingDown"     // a change is wanted too soon after another
	Conflicted  fsm.Event = "EnforceConflict" // another owner has taken the field
	Retaken     fsm.Event = "Retaken"         // the field may be written again
)

// The reasons of a lane.
const (
	ReasonNotEnforced   fsm.Reason = "NFRNotEnforced"      // the class does not ask for enforcement
	ReasonNoTarget      fsm.Reason = "NFRNoRecommendation" // nothing is recommended, or the child was not read
	ReasonStale         fsm.Reason = "NFRStale"            // the recommendation is too old, or of another generation
	ReasonEnforced      fsm.Reason = "NFREnforced"         // the target is applied
	ReasonStability     fsm.Reason = "NFRSkippedStability" // the target must last before it is applied
	ReasonCooldown      fsm.Reason = "NFRSkippedCooldown"  // the last change was too short a time ago
	ReasonClampedMax    fsm.Reason = "NFRClampedMax"       // more replicas are recommended than are allowed
	ReasonLowConfidence fsm.Reason = "NFRLowConfidence"    // the recommendation is not trusted enough
	ReasonDoubt         fsm.Reason = "NFRSamplesMissing"   // what was measured does not allow the change
	ReasonApplying      fsm.Reason = "NFRApplying"         // the field is written
	ReasonApplied       fsm.Reason = "NFRApplied"          // the field was written
	ReasonConflict      fsm.Reason = "EnforceConflict"     // another owner has the field
	ReasonRetaken       fsm.Reason = "NFRRetaken"          // it let the field go, or a person took it back
)
