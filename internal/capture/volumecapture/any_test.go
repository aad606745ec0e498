package volumecapture

import (
	"errors"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// safe is what must never happen, whatever else is true.
func safe(in input, s fsm.Step[*capturev1.VolumeCaptureRequest]) error {
	for _, e := range s.Decision.Do {
		if err := safely(in, e); err != nil {
			return err
		}
	}
	for _, h := range s.Hops {
		if _, _, refused := in.World.Limits.Refusal(in.Obj.Namespace, nil); refused && h.From == Pending && h.To == Preparing {
			return errors.New("begins more than is allowed")
		}
	}
	if s.Moved() && s.Obj.Status.Phase == Succeeded {
		return proven(in)
	}
	return nil
}

func safely(in input, e fsm.Effect) error {
	w, st := in.World, in.Obj.Status
	_, first := e.(CreateKeeper)
	switch sight := w.Rights.Sight; {
	case st.Phase == CleaningUp:
	case first && sight != request.Granted:
		return errors.New("accepts a request of somebody who may not make it")
	case sight == request.Early || sight == request.Unproven:
		return errors.New("acts for somebody whom nobody has checked")
	}
	if !first && st.Phase != CleaningUp && w.Self != st.Phase {
		return errors.New("acts on a request that is somewhere else by now")
	}
	switch e := e.(type) {
	case MarkVolume:
		if w.Volume.Mark.By == "" && w.Rights.Sight != request.Granted {
			return errors.New("takes a volume for somebody who may not")
		}
	case CreateContent:
		if e.Keeper == "" || !w.Claim.Bound || e.Handle == "" || e.Origin.ClaimUID != w.Claim.UID {
			return errors.New("makes a snapshot that nobody owns, or of a volume that is not the claim's")
		}
	case DeleteContent:
		if w.Content.Sight != presence.Here || e.UID != w.Content.UID || st.Failure == nil {
			return errors.New("deletes a snapshot of somebody else, or one that may be good")
		}
	case DeleteClaim:
		if w.Rights.Sight != request.Granted {
			return errors.New("deletes a claim for somebody who may not")
		}
		if w.Volume.Policy != retain || w.Volume.Mark.By != in.Obj.UID || w.Volume.ClaimUID != e.UID {
			return errors.New("deletes a claim whose volume would go with it")
		}
		if w.Volume.Deleting {
			return errors.New("deletes a claim that alone keeps its volume")
		}
		if !w.Users.Looked || w.Users.Pod != "" || st.Detached == nil || st.Origin == nil || st.Origin.ClaimUID != e.UID {
			return errors.New("deletes a claim that is used, or that is not the one, or without a record")
		}
	case BindVolume:
		if claimed(in) || w.Volume.ClaimUID != st.Origin.ClaimUID || e.Holder == "" {
			return errors.New("takes a volume from a claim that lives")
		}
	case RestorePolicy:
		if !w.Holder.Bound || w.Volume.ClaimUID != w.Holder.UID {
			return errors.New("lets a volume go that nobody holds")
		}
	case UnmarkVolume:
		if !claimed(in) || w.Claim.Deleting {
			return errors.New("lets a volume go whose claim goes")
		}
	}
	return nil
}

// proven says that what has succeeded is there.
func proven(in input) error {
	w := in.World
	switch {
	case in.Obj.Spec.Mode == capturev1.Detach && (!w.Holder.Bound || w.Volume.ClaimUID != w.Holder.UID || w.Volume.Policy != w.Volume.Mark.Policy):
		return errors.New("succeeds, and the volume is not held")
	case in.Obj.Spec.Mode == capturev1.Snapshot && (w.Content.Sight != presence.Here || !w.Content.Ready || w.Content.Handle == ""):
		return errors.New("succeeds, and there is no snapshot")
	}
	return nil
}

func anything(r *rand.Rand, phase fsm.Phase) (*capturev1.VolumeCaptureRequest, World) {
	obj := object()
	obj.Spec.OnTransientError = pick(r, capturev1.WaitUntilDeadline, capturev1.FailAtOnce)
	obj.Spec.Mode = pick(r, capturev1.Snapshot, capturev1.Detach)
	switch phase {
	case Capturing:
		obj.Spec.Mode = capturev1.Snapshot
	case Detaching:
		obj.Spec.Mode = capturev1.Detach
	}
	obj.Spec.VolumeSnapshotClassName = pick(r, "", "fast")
	if r.IntN(10) == 0 {
		obj.DeletionTimestamp = &createdAt
	}
	if phase != "" && phase != Pending && r.IntN(6) > 0 {
		obj.Status.Origin = &capturev1.Origin{Namespace: "shop", NamespaceUID: "n1", RequestUID: "r1", Claim: "data", ClaimUID: pick[types.UID](r, "c1", "c1", "c1", "c0")}
		obj.Status.Detached = &capturev1.DetachedVolume{Name: "pv1", UID: pick[types.UID](r, "v1", "v1", "v1", "v0"), ReclaimPolicy: pick(r, "Delete", retain)}
	}
	if phase == CleaningUp && r.IntN(4) > 0 {
		obj.Status.Failure = &capturev1.RequestFailure{Reason: capturev1.ReasonDriverError, Message: "The request cannot be done."}
	}
	w := anyWorld(r)
	w.Self = pick(r, phase, phase, phase, Failed)
	if r.IntN(3) == 0 { // all is as it should be when the work begins
		tidy := world()
		tidy.Self, tidy.Keeping = phase, request.Keeping{Sight: presence.Here, UID: "k1", Namespace: "n1"}
		tidy.Volume.Mark, tidy.Volume.ClaimUID, tidy.Claim, tidy.Holder = w.Volume.Mark, w.Volume.ClaimUID, w.Claim, w.Holder
		return obj, tidy
	}
	w.Limits = request.Limits{Captures: pick(r, 0, 0, 5), Kept: 5}
	return obj, w
}

// anyRights are what reviews may say; mostly yes.
var anyRights = []request.Rights{
	{}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted},
	{Sight: request.Denied, Why: "Mode Detach deletes the claim, and ann may not delete persistentvolumeclaims data of namespace shop"},
	{Sight: request.Unguarded, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
	{Sight: request.Early, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev was not in force yet when the request was made"},
	{Sight: request.Unproven, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
}

func anyWorld(r *rand.Rand) World {
	w := world()
	w.Keeping = request.Keeping{Sight: pick(r, "", presence.Gone, presence.Here, presence.Here, presence.Other), Namespace: pick[types.UID](r, "", "n1")}
	if w.Keeping.Sight == presence.Here {
		w.Keeping.UID = pick[types.UID](r, "", "k1", "k1")
	}
	w.Claim = Claim{Sight: pick(r, "", presence.Gone, presence.Unknown, presence.Here, presence.Here, presence.Here), UID: pick[types.UID](r, "c1", "c1", "c2"), ResourceVersion: "3", Bound: r.IntN(4) > 0, Deleting: r.IntN(4) == 0, DeletedAt: createdAt.Time}
	w.Volume.Sight = pick(r, "", presence.Gone, presence.Here, presence.Here, presence.Here)
	w.Volume.Driver = pick(r, "", "csi", "csi", "csi")
	w.Volume.Policy = pick(r, "Delete", retain)
	w.Volume.ClaimUID = pick[types.UID](r, "", "c1", "c1", "holder", "other")
	w.Volume.Mark = pick(r, Mark{}, Mark{By: "r1", Policy: "Delete", Origin: &capturev1.Origin{ClaimUID: "c1"}}, Mark{By: "r2", Policy: "Delete"})
	w.Volume.Deleting = r.IntN(4) == 0
	w.Class.Sight = pick(r, "", ClassFound, ClassFound, ClassFound, ClassMissing, ClassAmbiguous, ClassOfAnother, ClassUnserved, ClassUnreadable, ClassNonsensical)
	w.Content = Content{Sight: pick(r, "", presence.Gone, presence.Gone, presence.Here, presence.Here, presence.Here, presence.Other, presence.Unknown, presence.Unknown), UID: "content", ResourceVersion: "5",
		Deleting: r.IntN(4) == 0, Ready: r.IntN(2) == 0, Handle: pick(r, "", "s1"), Error: pick(r, "", "no")}
	if w.Claim.Sight == presence.Unknown {
		w.Claim.Why = presence.Forbidden
	}
	if w.Content.Sight == presence.Unknown {
		w.Content.Why = pick(r, presence.Unserved, presence.Forbidden)
	}
	w.Users = Users{Looked: r.IntN(4) > 0, Pod: pick(r, "", "", "web-0")}
	w.Holder = Holder{Sight: pick(r, "", presence.Gone, presence.Gone, presence.Here, presence.Here, presence.Other), UID: pick[types.UID](r, "", "holder", "holder"), Bound: r.IntN(2) == 0}
	w.Rights = pick(r, anyRights...)
	return w
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }
