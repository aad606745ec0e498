package pod

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// decideLeaving takes the application out at once, waits for no other pod, and lets the object go by evidence alone. Effects
// and the waits for their results have the same words, so that a pod leaves by one write of its status.
func decideLeaving(in input) fsm.Decision {
	w := in.World
	if !w.Looked || w.Blind || w.Device.State == "" {
		return notLooked(w)
	}
	seen, doubt := w.App.Gone()
	if doubt == "" {
		return fsm.Do(ReasonLeaving, Release{in.Obj.UID, in.Obj.ResourceVersion, seen}).Because("%s", leaving(w))
	}
	if why, words := cannotEdit(w); why != "" {
		return fsm.Wait(why, "device", "rendered").Because("%s", words)
	}
	if d, is := removal(in, doubt); is {
		return d
	}
	if w.unheard() {
		why, words := w.Device.unheard()
		return fsm.Wait(why, "device", "rendered").Because("%s Once it is back and has stopped the pod, the pod's object goes.", words)
	}
	return awaitStop(in, doubt)
}

// removal takes the application out, and with it a newcomer that may be what keeps the agent from applying any version.
func removal(in input, doubt device.Doubt) (d fsm.Decision, is bool) {
	w := in.World
	remove := Remove{Application: w.Wanted.Name, At: in.Now.Unix()}
	if w.Device.Believed && !w.Device.Applied {
		remove.Newcomer, remove.Replaces = w.Device.Newcomer, w.Device.Replaces
	}
	if doubt != device.StillInSpec && remove.Newcomer == "" {
		return d, false
	}
	return fsm.Do(ReasonLeaving, remove).Because("%s", leaving(w)), true
}

// awaitStop waits for a device that is to stop the pod, and makes it try again.
func awaitStop(in input, doubt device.Doubt) fsm.Decision {
	w := in.World
	patience := nudgeAfter
	if doubt == device.StillReported {
		patience = lateReport
	}
	switch {
	case doubt != device.NotLooked && nudgeIsDue(in, patience):
		return fsm.Do(ReasonNudging, Nudge{in.Now.Unix()}).Because("%s", notStopped(w))
	case nudged(in):
		return fsm.Wait(ReasonNudging, "device", "rendered").In(nudgeAfter).Because("%s", notStopped(w))
	}
	return fsm.Wait(ReasonLeaving, "device", "rendered").In(nudgeAfter).Because("%s", leaving(w))
}

func leaving(w World) string {
	return "Stopping the pod on device " + w.Device.Name + "; the pod's object goes once the device has stopped it."
}

func notStopped(w World) string {
	return "Device " + w.Device.Name + " has not stopped the pod in time, so it is given new versions of its spec." + w.Device.says()
}

// cannotEdit is why the device's spec is not edited; "" is that it is.
func cannotEdit(w World) (why fsm.Reason, words string) {
	switch {
	case w.Device.Edited:
		return "", ""
	case w.Device.State == device.Gone:
		_, words := w.Device.unheard()
		return ReasonDeviceGone, words + " If you know that it does not, delete the pod by force, or taint its Node with node.kubernetes.io/out-of-service."
	case w.captured():
		return ReasonDeviceCaptured, w.Device.captured()
	case w.unheard():
		return w.Device.unheard()
	}
	return w.Device.turn()
}

// nudgeIsDue says that the device had time enough, since the phase began and since the last nudge: each time twice as long.
func nudgeIsDue(in input, patience time.Duration) bool {
	d, since := in.World.Device, in.Obj.Progress.Since.Time
	if !d.Believed || !d.Edited {
		return false
	}
	last := time.Unix(d.NudgedAt, 0)
	if d.NudgedAt == 0 || last.Before(since) {
		return in.Now.Sub(since) >= patience
	}
	return in.Now.Sub(last) >= min(max(last.Sub(since), patience), longestNudge)
}

// nudged says that the device was nudged since the phase began.
func nudged(in input) bool {
	at := in.World.Device.NudgedAt
	return at != 0 && !time.Unix(at, 0).Before(in.Obj.Progress.Since.Time)
}
