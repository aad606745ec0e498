package class

import (
	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a class.
const (
	Pending     fsm.Phase = "pending"
	Applying    fsm.Phase = "applying"
	Progressing fsm.Phase = "progressing"
	Available   fsm.Phase = "available"
	Degraded    fsm.Phase = "degraded"
	Deleting    fsm.Phase = "deleting"
)

// The events of a class.
const (
	Began             fsm.Event = "Began"             // children are to be applied
	AllApplied        fsm.Event = "AllApplied"        // all children are as the spec asks for
	BecameReady       fsm.Event = "BecameReady"       // every function is ready
	Outdated          fsm.Event = "Outdated"          // a child is not as the spec asks for
	Unready           fsm.Event = "Unready"           // a function lost its replicas
	Refused           fsm.Event = "Refused"           // a child cannot be built, or was refused
	Failed            fsm.Event = "Failed"            // a function failed in a way that waiting does not end
	Overdue           fsm.Event = "Overdue"           // replicas were not ready in time
	Recovered         fsm.Event = "Recovered"         // what was wrong is over
	DeletionRequested fsm.Event = "DeletionRequested" // the class is being deleted
)

// The reasons of a class.
const (
	ReasonNotLooked       fsm.Reason = "NotLooked"          // the children were not read yet
	ReasonApplying        fsm.Reason = "Applying"           // children are brought into the shape that the spec asks for
	ReasonApplied         fsm.Reason = "Applied"            // all children are as the spec asks for
	ReasonOutdated        fsm.Reason = "Outdated"           // the spec was edited, or a child is missing or was changed by others
	ReasonRemovingOrphans fsm.Reason = "RemovingOrphans"    // children that no function has any more are deleted
	ReasonWaiting         fsm.Reason = "WaitingForReplicas" // replicas are not ready yet, and nothing tells why
	ReasonImagePull       fsm.Reason = "ImagePull"          // a node cannot get the image of a container
	ReasonConfigMissing   fsm.Reason = "ConfigMissing"      // a Secret or ConfigMap that a container needs is missing
	ReasonUnschedulable   fsm.Reason = "Unschedulable"      // no node takes a pod
	ReasonAvailable       fsm.Reason = "FunctionsReady"     // every function is ready
	ReasonCrashLoop       fsm.Reason = "CrashLoop"          // a container ends again and again
	ReasonPodsRefused     fsm.Reason = "PodsRefused"        // pods cannot be created: a quota, or admission, refuses them
	ReasonTimeout         fsm.Reason = "Timeout"            // replicas were not ready in time
	ReasonApplyInvalid    fsm.Reason = "ApplyInvalid"       // a child cannot be built, or the API server refuses it
	ReasonConflict        fsm.Reason = "Conflict"           // another controller owns fields of a child
	ReasonNameTaken       fsm.Reason = "NameTaken"          // an object of another owner has the name of a child
	ReasonRecovered       fsm.Reason = "Recovered"          // what was wrong is over
	ReasonOverridden      fsm.Reason = "ReplicasOverridden" // another has set the replicas of a function, and that stands
	ReasonFieldContested  fsm.Reason = "FieldContested"     // another changes a field of a child again and again
	ReasonEngineConflict  fsm.Reason = "EngineConflict"     // two autoscalers have one function as their target
	ReasonEngineBlind     fsm.Reason = "EngineBlind"        // an autoscaler does not see what it scales by
	ReasonRolloutPaused   fsm.Reason = "RolloutPaused"      // a person has paused the rollout of a Deployment
	ReasonPaused          fsm.Reason = "Paused"             // spec.paused keeps the manager from applying
	ReasonDeleting        fsm.Reason = "Deleting"           // garbage collection takes the children
)

type input = fsm.Input[*runtimev1.ClassRuntime, World]
