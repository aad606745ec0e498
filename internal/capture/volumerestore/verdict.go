package volumerestore

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// verdict is why a request cannot be fulfilled. The zero value is: nothing speaks against it.
type verdict struct {
	Reason  fsm.Reason
	Message string
}

func (v verdict) given() bool { return v.Reason != "" }

func (v verdict) fire() fsm.Decision { return fsm.Fire(GivenUp, v.Reason).Because("%s", v.Message) }

func because(why fsm.Reason, format string, args ...any) verdict {
	return verdict{why, fmt.Sprintf(format, args...)}
}

// refused is what speaks against the request before anything is made for it.
func refused(in input) verdict {
	w := in.World
	switch {
	case w.Keeping.Sight == presence.Other:
		return because(capturev1.ReasonNameTaken, "ObjectKeeper %s exists and does not follow this request; make another request.", request.KeeperName(in.Obj.UID))
	case unpermitted(in).given(): // who may not restore a source is not told whether there is one
		return unpermitted(in)
	case w.Claim.Sight == presence.Other:
		return taken(in)
	}
	s := w.Source
	switch s.Sight {
	case Missing:
		return because(capturev1.ReasonNotFound, "%s does not exist.", s.What)
	case NotReady:
		return because(capturev1.ReasonSourceNotReady, "%s %s.", s.What, s.Why)
	case Foreign:
		return because(capturev1.ReasonForbidden, "%s %s.", s.What, s.Why)
	case Consumed:
		return because(capturev1.ReasonSourceConsumed, "%s was restored before: %s.", s.What, s.Why)
	case Unfit:
		return because(capturev1.ReasonInvalidTarget, "%s %s.", s.What, s.Why)
	case Ready:
		return unfit(in)
	}
	return verdict{}
}

func taken(in input) verdict {
	return because(capturev1.ReasonNameTaken, "PersistentVolumeClaim %s exists and was not made for this request; delete it, or name another claim, and make another request.", in.Obj.Spec.VolumeClaimTemplate.Name)
}

// unfit is what speaks against a claim like this from a source like that.
func unfit(in input) verdict {
	s, t := in.World.Source, in.Obj.Spec.VolumeClaimTemplate.Spec
	asked := t.Resources.Requests[corev1.ResourceStorage]
	moved := s.Resolved.Volume != nil
	switch mode := modeOf(t.VolumeMode); {
	case moved && in.Obj.Spec.Rehearsal != nil:
		return because(capturev1.ReasonInvalidTarget, "%s would be moved and deleted with the rehearsal, though it is the only copy; rehearse with a snapshot.", s.What)
	case s.Mode != "" && s.Mode != mode:
		return because(capturev1.ReasonInvalidTarget, "%s was captured with volumeMode %s, but the claim asks for %s; make another request that asks for the same.", s.What, s.Mode, mode)
	case moved && s.Capacity != nil && asked.Cmp(*s.Capacity) > 0:
		return because(capturev1.ReasonInvalidTarget, "%s has a capacity of %s, but the claim asks for %s; make another request that asks for no more.", s.What, s.Capacity, &asked)
	case moved:
		return verdict{}
	case s.Resolved.RestoreSize != nil && asked.Cmp(*s.Resolved.RestoreSize) < 0:
		return because(capturev1.ReasonTooSmall, "%s needs %s, but the claim asks for %s; make another request that asks for as much.", s.What, s.Resolved.RestoreSize, &asked)
	}
	return misclassed(in)
}

// misclassed is what speaks against the storage class of the claim.
func misclassed(in input) verdict {
	c, driver := in.World.Source.Class, in.World.Source.Resolved.Driver
	switch {
	case c.Missing && c.Name == "":
		return because(capturev1.ReasonNotFound, "The claim names no StorageClass, and there is no default; name one in another request.")
	case c.Missing:
		return because(capturev1.ReasonNotFound, "StorageClass %s does not exist; create it, or name another one, and make another request.", c.Name)
	case c.Provisioner != "" && c.Provisioner != driver:
		return because(capturev1.ReasonInvalidTarget, "StorageClass %s is of %s, but the capture is held by %s; name a class of that driver in another request.", c.Name, c.Provisioner, driver)
	}
	return verdict{}
}

func modeOf(mode *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if mode == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *mode
}

// troubled is what speaks against the request once the restorer is at work.
func troubled(in input) verdict {
	c := in.World.Claim
	switch {
	case in.World.Keeping.Lost(): // nothing but the status says that it was begun
		return because(capturev1.ReasonArtifactLost, request.LostMessage)
	case c.Volume == "" && unpermitted(in).given(): // the volume was not made yet
		return unpermitted(in)
	case c.Sight == presence.Other:
		return taken(in)
	case c.Sight != presence.Here:
		return verdict{}
	case c.Volume == Another:
		return because(capturev1.ReasonWrongVolume, "PersistentVolumeClaim %s was bound to a volume that was not made by this restore; look who made it, and make another request.", in.Obj.Spec.VolumeClaimTemplate.Name)
	case c.Trouble == capturev1.ReasonSourceConsumed:
		return verdict{c.Trouble, c.Words}
	case c.Trouble != "" && in.Obj.Spec.OnTransientError == capturev1.FailAtOnce:
		return verdict{capturev1.ReasonDriverError, c.Words}
	}
	return verdict{}
}
