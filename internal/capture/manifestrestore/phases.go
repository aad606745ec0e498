package manifestrestore

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The phases of a restore.
const (
	Pending    fsm.Phase = "Pending"
	Preparing  fsm.Phase = "Preparing"
	Planning   fsm.Phase = "Planning"
	Applying   fsm.Phase = "Applying"
	Verifying  fsm.Phase = "Verifying"
	CleaningUp fsm.Phase = "CleaningUp"
	Succeeded  fsm.Phase = "Succeeded"
	Failed     fsm.Phase = "Failed"
)

// The events of a restore.
const (
	Accepted  fsm.Event = "Accepted"  // the request is young enough to be begun
	Expired   fsm.Event = "Expired"   // it is not
	Prepared  fsm.Event = "Prepared"  // the keeper is there, and so is what to restore
	Refused   fsm.Event = "Refused"   // it cannot be done as it is asked for; nothing was written
	Forbidden fsm.Event = "Forbidden" // the manager may not make the keeper
	Planned   fsm.Event = "Planned"   // every name was looked at, and none is in the way
	Rehearsed fsm.Event = "Rehearsed" // a dry run has shown what would be done
	Applied   fsm.Event = "Applied"   // every object was written, or said why it was not
	Broken    fsm.Event = "Broken"    // what is restored from cannot be read any more, or the keeper is gone
	Verified  fsm.Event = "Verified"  // everything that was to be restored is there
	Lacking   fsm.Event = "Lacking"   // something is not
	// Those that the kernel fires are also reasons.
	DeadlineExceeded fsm.Event = "DeadlineExceeded"
	MadeTooEarly               = fsm.Event(capturev1.ReasonMadeTooEarly) // nobody checked who made the request
)

// The reasons of a restore, besides those that end a request.
const (
	ReasonNotLooked         fsm.Reason = "NotLooked"         // what is needed was not read yet
	ReasonDeleting          fsm.Reason = "Deleting"          // the request itself is being deleted
	ReasonPreparing         fsm.Reason = "Preparing"         // making the keeper of the request
	ReasonPrepared          fsm.Reason = "Prepared"          // it is there, and so is the checkpoint
	ReasonWaitingForSource  fsm.Reason = "WaitingForSource"  // the capture to restore from has not ended yet
	ReasonPlanning          fsm.Reason = "Planning"          // reading the checkpoint, and looking at every name
	ReasonPlanned           fsm.Reason = "Planned"           // no name is in the way
	ReasonApplying          fsm.Reason = "Applying"          // writing the objects
	ReasonApplied           fsm.Reason = "Applied"           // all were written, or said why not
	ReasonVerifying         fsm.Reason = "Verifying"         // looking whether everything is there
	ReasonWaitingForVolumes fsm.Reason = "WaitingForVolumes" // volumes are restored by requests of their own
	ReasonStatusLost        fsm.Reason = "StatusLost"        // the status was lost before everything was restored
)

// The reasons of a result: why one object was not restored.
const (
	ReasonControlled       fsm.Reason = "Controlled"       // a controller looks after what is there, so it is not replaced
	ReasonOwnKind          fsm.Reason = "OwnKind"          // requests are not restored, and no kind of ours is replaced
	ReasonClusterScoped    fsm.Reason = "ClusterScoped"    // it does not belong into a namespace
	ReasonUnserved         fsm.Reason = "Unserved"         // the API server does not serve its kind
	ReasonOwnerNotRestored fsm.Reason = "OwnerNotRestored" // without its owner it would be collected at once
	ReasonInvalid          fsm.Reason = "Invalid"          // the API server refuses it as it is
	ReasonVanished         fsm.Reason = "Vanished"         // it was restored, and is gone or another by now
	ReasonNotReached       fsm.Reason = "NotReached"       // the restore ended before its turn
)
