package pod

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// changed leaves a phase in which the device runs the pod because its spec does not have it any more, or has another image.
func changed(in input) (d fsm.Decision, is bool) {
	w := in.World
	switch {
	case !w.App.InSpec:
		return fsm.Fire(ToBeSent, ReasonTakenOut).Because("The application is not in the spec of device %s any more, so it is sent again.", w.Device.Name), true
	case !w.Sent():
		return fsm.Fire(ToBeSent, ReasonEdited).Because("The image of the pod was edited."), true
	}
	return d, false
}

// decideRunning stays while the device reports all containers: also while it applies other versions, or every pod of
// the device would cease to be Ready whenever one comes.
func decideRunning(in input) fsm.Decision {
	w := in.World
	if d, is := away(in); is {
		return d
	}
	if d, is := changed(in); is {
		return d
	}
	switch {
	case !w.App.Found:
		return fsm.Fire(NotReported, ReasonNotReported).Because("Device %s does not report the pod.", w.Device.Name)
	case !w.complete():
		return fsm.Fire(Failed, ReasonNotRunning).Because("%s", notRunning(w))
	case w.App.Restarts > in.Obj.restarts():
		return fsm.Fire(Failed, ReasonCrashLoop).Because("%s", crashes(w))
	}
	return fsm.Wait(ReasonRunning, "device").Because("All containers of the pod run on device %s.", w.Device.Name)
}

func notRunning(w World) string {
	switch {
	case !w.App.Found && w.Device.Applied:
		return fmt.Sprintf("Device %s has applied the last version of its spec, and does not report the pod.", w.Device.Name)
	case !w.App.Found:
		return fmt.Sprintf("Device %s does not report the pod, and has not applied the last version of its spec.%s", w.Device.Name, w.Device.says())
	}
	return fmt.Sprintf("Device %s has applied the pod, and reports it as %s with %d of %d containers.", w.Device.Name, w.App.Status, w.App.Ready, w.Wanted.Containers)
}

func crashes(w World) string {
	return fmt.Sprintf("The container of the pod ends again and again on device %s, which has restarted it: look at its log there.", w.Device.Name)
}

// decideCrashing waits until the container runs, and was not restarted for a while: how often it was is all that tells.
func decideCrashing(in input) fsm.Decision {
	w := in.World
	if d, is := away(in); is {
		return d
	}
	if d, is := changed(in); is {
		return d
	}
	switch {
	case w.Device.Applied && !w.App.Found && nudgeIsDue(in, lateReport):
		return fsm.Do(ReasonNotRunning, Nudge{in.Now.Unix()}).Because("%s", notRunning(w))
	case !w.complete():
		return fsm.Wait(ReasonNotRunning, "device").In(nudgeAfter).Because("%s", notRunning(w))
	}
	left := calmLeft(in)
	switch {
	case w.App.Restarts > in.Obj.restarts() || left > 0:
		return fsm.Wait(ReasonCrashLoop, "device").In(max(left, time.Second)).Because("%s", crashes(w))
	case !w.runs(in.Obj.known()):
		return fsm.Wait(ReasonPreparing, "device", "rendered").Because("Waiting until device %s has applied the last version of its spec.", w.Device.Name)
	}
	return fsm.Fire(Started, ReasonRunning)
}

// calmLeft is how long the container must still run without a restart.
func calmLeft(in input) time.Duration {
	last := in.Obj.lastRestart()
	if last.IsZero() || in.Now.Before(last.Time) {
		return 0
	}
	return max(calm-in.Now.Sub(last.Time), 0)
}

func decideSilent(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked || w.Blind || w.Device.State == "":
		return notLooked(w)
	case w.captured():
		return fsm.Fire(FleetCaptured, ReasonDeviceCaptured).Because("%s", w.Device.captured())
	case w.unheard():
		why, words := w.Device.unheard()
		return fsm.Wait(why, "device").Because("%s", words)
	}
	return fsm.Fire(Heard, ReasonDeviceBack).Because("Device %s is heard again.", w.Device.Name)
}

func decideCaptured(in input) fsm.Decision {
	w := in.World
	switch {
	case !w.Looked || w.Blind || w.Device.State == "":
		return notLooked(w)
	case w.captured():
		return fsm.Wait(ReasonDeviceCaptured, "device").Because("%s", w.Device.captured())
	}
	return fsm.Fire(FleetReleased, ReasonDeviceBack).Because("No fleet owns device %s any more.", w.Device.Name)
}

// decideQuarantined takes the pod out, so that other changes reach the device, and tries again later: the later, the longer it
// was not ready. An edit of the image ends that.
func decideQuarantined(in input) fsm.Decision {
	w, last := in.World, in.Obj.Progress
	if d, is := away(in); is {
		return d
	}
	why, words := tried(in.Obj)
	switch {
	case w.App.InSpec && (w.Device.Applied || !w.Sent()): // it was applied late, or edited
		return fsm.Fire(Sent, ReasonPreparing)
	case w.App.InSpec && !w.Device.Edited:
		why, words = w.Device.turn()
		return fsm.Wait(why, "device").Because("%s", words)
	case w.App.InSpec:
		return fsm.Do(why, Remove{Application: w.Wanted.Name, At: in.Now.Unix()}).Because("%s", words)
	case triedImage(in.Obj) != w.Wanted.Image:
		return fsm.Fire(ToBeSent, ReasonEdited).Because("The image of the pod was edited.")
	}
	at := last.Since.Add(retryAfter(in.Obj))
	if left := at.Sub(in.Now); left > 0 {
		return fsm.Wait(why, "device").In(left).Because("%s It is tried again at %s.", words, at.UTC().Format("15:04:05Z"))
	}
	return fsm.Fire(ToBeSent, ReasonBound).Because("The pod is tried again.")
}

// tried is why the device could not apply the pod, as it was told when that was given up.
func tried(o *Pod) (why fsm.Reason, words string) {
	move, is := o.Progress.LastMove(Quarantined)
	if !is || move.Message == "" {
		return ReasonCreateError, "The device could not apply the pod in time, so it was taken out."
	}
	return move.Reason, move.Message
}

// retryAfter is how long a pod waits for its next try: as long as it has not been ready by then, so that each wait is about twice the
// last one. The age of the condition is all the memory there is.
func retryAfter(o *Pod) time.Duration {
	age := shortestRetry
	if c := o.condition(corev1.PodReady); c != nil && c.Status != corev1.ConditionTrue {
		age = o.Progress.Since.Sub(c.LastTransitionTime.Time)
	}
	return min(max(age, shortestRetry), longestRetry)
}

// quarantined says that a device could not apply the pod, as its status tells.
func quarantined(o *Pod) bool {
	c := o.container()
	return c != nil && c.State.Waiting != nil && (c.State.Waiting.Reason == string(ReasonImagePull) || c.State.Waiting.Reason == string(ReasonCreateError))
}

// triedImage is the image that was sent last.
func triedImage(o *Pod) string {
	if c := o.container(); c != nil {
		return c.Image
	}
	return ""
}
