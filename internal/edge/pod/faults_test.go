package pod

import (
	"testing"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

// An agent that returns reports no application at first.
func TestFaultAReceiptIsClosedByTheReportAlone(t *testing.T) {
	b := newBench().Deciding(Leaving, func(in input) fsm.Decision {
		if w := in.World; w.Looked && !w.Blind && w.Device.State != "" && !w.App.InSpec && !w.App.Reported {
			return fsm.Do(ReasonLeaving, Release{in.Obj.UID, in.Obj.ResourceVersion, "it is not reported"}).Because("It is gone.")
		}
		return decideLeaving(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Leaving), "lets the object go in doubt")
}

// An edited image that was not rendered yet is reported as Running, and so is an application of an older version.
func TestFaultReadyByTheReportAlone(t *testing.T) {
	b := newBench().Deciding(Preparing, func(in input) fsm.Decision {
		if d, is := away(in); is {
			return d
		}
		if in.World.complete() {
			return fsm.Fire(Started, ReasonRunning)
		}
		return decidePreparing(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Preparing), "runs without evidence")
}

func TestFaultReadyOnASilentDevice(t *testing.T) {
	b := newBench().Deciding(Running, func(in input) fsm.Decision {
		if in.World.unheard() {
			return fsm.Wait(ReasonRunning, "device").Because("All containers of the pod run on device pump.")
		}
		return decideRunning(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Running), "still runs against the evidence")
}

func TestFaultTwoAtOnce(t *testing.T) {
	b := newBench().Deciding(Sending, func(in input) fsm.Decision {
		in.World.Device.Newcomer, in.World.Device.Adds = "", true
		return decideSending(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Sending), "another on its way")
}

// A delete would wait for the place timeout of another pod.
func TestFaultARemovalWaitsForItsTurn(t *testing.T) {
	b := newBench().Deciding(Leaving, func(in input) fsm.Decision {
		if w := in.World; w.Device.Newcomer != "" && w.Looked && !w.Blind && w.Device.State != "" {
			return fsm.Wait(ReasonTurn, "device").Because("Waiting until device pump has applied another pod.")
		}
		return decideLeaving(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Leaving), "waits with a removal")
}

// The newcomer keeps the agent from stopping anything.
func TestFaultTheNewcomerStays(t *testing.T) {
	b := newBench().Deciding(Leaving, func(in input) fsm.Decision {
		in.World.Device.Newcomer = ""
		return decideLeaving(in)
	})
	b.Object, b.End = leavingPod, "gone"
	b.World = newcomerWorld
	b.Settle = newcomerSettles
	fsmtest.Caught(t, b.Crash(), "without faults")
}

func TestFaultACapturedDeviceIsEdited(t *testing.T) {
	b := newBench().Deciding(Leaving, func(in input) fsm.Decision {
		in.World.Device.Edited = true
		return decideLeaving(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Leaving), "must not be edited")
}

// A pod that ran must not be stopped because its agent has restarted.
func TestFaultWhatIsAppliedIsTakenOut(t *testing.T) {
	b := newBench().Deciding(Quarantined, func(in input) fsm.Decision {
		in.World.Device.Applied = false
		return decideQuarantined(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Quarantined), "removes a living pod")
}

// That Flight Control does not answer says nothing of a pod.
func TestFaultBlindnessIsTold(t *testing.T) {
	b := newBench()
	b.Safe = func(in input, s fsm.Step[*Pod]) error {
		m := Machine
		m.Report = func(out *Pod, in input, p fsm.Pass) {
			in.World = idle()
			out.Progress.Phase = Silent
			report(out, in, p)
		}
		return safeStatus(in, m.Reduce(in, s, nil).Obj, true)
	}
	fsmtest.Caught(t, b.ExploreIn(Running), "says something of a device that was not read")
}

func TestFaultTheClockInTheMessage(t *testing.T) {
	b := newBench().Deciding(Running, func(in input) fsm.Decision {
		return fsm.Wait(ReasonRunning, "device").Because("All was well at %s.", in.Now)
	})
	b.Safe = nil
	fsmtest.Caught(t, b.Rest(), "writes at rest")
}
