package v1alpha1

import meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"

// Why a request ended. Ready carries one of them once it has.
const (
	ReasonCompleted         meta.Reason = "Completed"         // what was asked for is there
	ReasonDeadlineExceeded  meta.Reason = "DeadlineExceeded"  // the request was given up at its deadline
	ReasonNotFound          meta.Reason = "NotFound"          // what the request names does not exist, by a live read
	ReasonForbidden         meta.Reason = "Forbidden"         // the manager, or who made the request, may not do it
	ReasonPolicyMissing     meta.Reason = "PolicyMissing"     // an admission policy of the area is missing or changed, so the API server did not check who made the request
	ReasonMadeTooEarly      meta.Reason = "MadeTooEarly"      // the request is older than the admission policies of the area, or than their last change; made again, it is checked
	ReasonOverBudget        meta.Reason = "OverBudget"        // more would be kept than the operator allows
	ReasonRetentionTooLong  meta.Reason = "RetentionTooLong"  // retainAfterDeletion is more than the operator allows
	ReasonInvalidTarget     meta.Reason = "InvalidTarget"     // what the request names cannot be captured or restored
	ReasonInUse             meta.Reason = "InUse"             // a pod uses the claim that was to be detached
	ReasonDriverError       meta.Reason = "DriverError"       // the storage driver reported an error, and the request does not wait
	ReasonArtifactLost      meta.Reason = "ArtifactLost"      // what the request had made was deleted before it was finished
	ReasonNameTaken         meta.Reason = "NameTaken"         // another object has the name that is needed
	ReasonSourceNotReady    meta.Reason = "SourceNotReady"    // the capture to restore from failed, or was never finished
	ReasonSourceConsumed    meta.Reason = "SourceConsumed"    // the detached volume was restored before
	ReasonTooSmall          meta.Reason = "TooSmall"          // the claim asks for less than what was captured
	ReasonProbeFailed       meta.Reason = "ProbeFailed"       // the Job of a rehearsal failed
	ReasonProbeRefused      meta.Reason = "ProbeRefused"      // the Job of a rehearsal was refused: it is not valid, or not allowed
	ReasonWrongVolume       meta.Reason = "WrongVolume"       // the claim was bound to a volume that was not restored
	ReasonVolumeNotCaptured meta.Reason = "VolumeNotCaptured" // a captured claim has no entry in volumes
	ReasonTooLarge          meta.Reason = "TooLarge"          // there is more than a checkpoint holds
	ReasonIncomplete        meta.Reason = "Incomplete"        // what was read back is not what was written
	ReasonTampered          meta.Reason = "Tampered"          // a chunk does not have the digest that the checkpoint lists
	ReasonKeyMissing        meta.Reason = "KeyMissing"        // the key that a checkpoint was encrypted with is gone
	ReasonConflict          meta.Reason = "Conflict"          // names are taken, and the policy is Fail
	ReasonExpired           meta.Reason = "Expired"           // the request was not begun before notAfter
	ReasonPartiallyRestored meta.Reason = "PartiallyRestored" // some objects could not be restored; the results say which
)
