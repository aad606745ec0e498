package pod

import (
	"strings"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideBound finds where a pod stands, from what is seen alone: it is new, its progress was lost, or its device is back.
func decideBound(in input) fsm.Decision {
	w := in.World
	if d, is := away(in); is {
		return d
	}
	switch {
	case w.Sent() && w.runs(in.Obj.known()):
		return fsm.Fire(Started, ReasonRunning)
	case w.Sent() && w.Device.Applied && w.fails():
		return fsm.Fire(Failed, ReasonNotRunning).Because("%s", notRunning(w))
	case w.Sent():
		return fsm.Fire(Sent, ReasonPreparing)
	case len(w.Wanted.Refused) > 0:
		return fsm.Fire(Unsupported, ReasonUnsupported).Because("%s", refusal(w))
	case !w.App.InSpec && quarantined(in.Obj) && triedImage(in.Obj) == w.Wanted.Image:
		return fsm.Fire(NotApplied, fsm.Reason(in.Obj.container().State.Waiting.Reason)).Because("Device %s could not apply the pod, which was taken out.", w.Device.Name)
	}
	return fsm.Fire(ToBeSent, ReasonBound)
}

// away leaves a phase because of the device, or waits because nothing is known of it.
func away(in input) (d fsm.Decision, is bool) {
	w := in.World
	switch {
	case !w.Looked || w.Blind || w.Device.State == "":
		return notLooked(w), true
	case w.captured():
		return fsm.Fire(FleetCaptured, ReasonDeviceCaptured).Because("%s", w.Device.captured()), true
	case w.unheard():
		why, words := w.Device.unheard()
		return fsm.Fire(Unheard, why).Because("%s", words), true
	}
	return d, false
}

func notLooked(w World) fsm.Decision {
	if w.Blind {
		words, _ := isBlind(input{World: w})
		return fsm.Wait(ReasonBlind, "device").Because("%s", words)
	}
	return fsm.Wait(ReasonNotLooked, "device").In(recheck).Because(unseen)
}

const unseen = "Waiting for the manager to read the pod's device from Flight Control."

// fails says that the device reports an end of the application. A container that is restarted always has no end.
func (w World) fails() bool {
	return w.App.Found && (w.App.Status == fleet.AppError || w.App.Status == fleet.AppCompleted)
}

func refusal(w World) string {
	if w.App.InSpec {
		return "A device cannot honour the edited pod, and runs it as it was: " + list(w.Wanted.Refused) + "."
	}
	return "A device cannot honour what the pod asks for: " + list(w.Wanted.Refused) + "."
}

// decideRefused waits until nothing stands in the way: Secrets may be granted, and the image edited.
func decideRefused(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked || w.Blind || w.Device.State == "":
		return notLooked(w)
	case w.Sent() || len(w.Wanted.Refused) == 0:
		return fsm.Fire(Supported, ReasonSupported)
	}
	return fsm.Wait(ReasonUnsupported, "self", "sources").Because("%s", refusal(w))
}

func decideSending(in input) fsm.Decision {
	w := in.World
	if d, is := away(in); is {
		return d
	}
	switch {
	case w.Sent():
		return fsm.Fire(Sent, ReasonPreparing)
	case len(w.Wanted.Refused) > 0:
		return fsm.Fire(Unsupported, ReasonUnsupported).Because("%s", refusal(w))
	case len(w.Wanted.Missing) > 0:
		return fsm.Wait(ReasonConfigMissing, "sources").Because("%s", strings.Join(w.Wanted.Missing, " "))
	case !w.Device.Adds || w.Device.Newcomer != "" || w.App.Found && !w.App.InSpec: // it has not stopped yet
		why, words := w.Device.turn()
		if w.Device.GaveUp && nudgeIsDue(in, nudgeAfter) { // or it would never be this pod's turn
			return fsm.Do(why, Nudge{in.Now.Unix()}).Because("%s", words)
		}
		return fsm.Wait(why, "device").In(nudgeAfter).Because("%s", words)
	}
	return fsm.Do(ReasonSending, Send{w.Wanted.Name, w.Wanted.Image}).Because("Sending the pod to device %s.", w.Device.Name)
}

// decidePreparing gives up by the place timeout if the device has not applied the version with the pod; one that was applied, or ran
// before, keeps no other change from the device.
func decidePreparing(in input) fsm.Decision {
	w := in.World
	if d, is := away(in); is {
		return d
	}
	if d, is := changed(in); is {
		return d
	}
	switch {
	case w.runs(in.Obj.known()):
		return fsm.Fire(Started, ReasonRunning)
	case w.Device.Applied && w.fails(), isLate(in) && (w.Device.Applied || in.Obj.ran() == w.Wanted.Image):
		return fsm.Fire(Failed, ReasonNotRunning).Because("%s", notRunning(w))
	}
	return awaitStart(in).OrLate(tooLate(w))
}

// awaitStart waits for a device that is to start the pod. It makes a new version if the device has applied one without the pod, or has
// given up.
func awaitStart(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.App.Found && w.Device.Applied && nudgeIsDue(in, lateReport):
		return fsm.Do(ReasonNudging, Nudge{in.Now.Unix()}).Because("%s", notReported(w))
	case !w.App.Found && nudged(in):
		return fsm.Wait(ReasonNudging, "device").In(nudgeAfter).Because("%s", notReported(w))
	}
	words := "Waiting for device " + w.Device.Name + " to pull and start the pod." + w.Device.says()
	if w.Device.GaveUp && nudgeIsDue(in, nudgeAfter) {
		return fsm.Do(ReasonPreparing, Nudge{in.Now.Unix()}).Because("%s", words)
	}
	d := fsm.Wait(ReasonPreparing, "device")
	if in.Obj.known() != w.Wanted.Image { // only what was rendered tells which image runs
		d.Wakes = append(d.Wakes, "rendered")
	}
	return d.In(nudgeAfter).Because("%s", words)
}

func notReported(w World) string {
	return "Device " + w.Device.Name + " has applied the last version of its spec without the pod, so it is given new ones." + w.Device.says()
}

func isLate(in input) bool {
	p := in.Obj.Progress
	return p.Deadline != nil && p.HeldSince == nil && !in.Now.Before(p.Deadline.Time)
}

// tooLate is why a pod is given up that its device does not apply.
func tooLate(w World) fsm.Verdict {
	if w.App.CannotPull {
		return fsm.Verdict{Reason: ReasonImagePull, Message: "Device " + w.Device.Name + " cannot pull image " + w.Wanted.Image + ", and makes no other change meanwhile." + w.Device.says()}
	}
	return fsm.Verdict{Reason: ReasonCreateError, Message: "Device " + w.Device.Name + " applies neither the pod nor any other change." + w.Device.says()}
}
