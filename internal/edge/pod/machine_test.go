package pod

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
)

type bench = fsmtest.Bench[*Pod, World]

const (
	application = "sc-0a1b2c3d-p1"
	image       = "imagehub.example.com/web:1"
	other       = "sc-0a1b2c3d-p2"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0).UTC())

func newBench() bench {
	return bench{
		Machine: &Machine, Object: newPod, World: idle, Perform: Perform, Settle: Settle,
		Gone: func(w World) bool { return w.Released },
		Any:  anyPod, End: string(Running), Safe: safe,
	}
}

// newPod is a pod that the scheduler has just bound.
func newPod() *Pod {
	p := &Pod{}
	p.Namespace, p.Name, p.UID, p.ResourceVersion, p.Generation, p.CreationTimestamp = "shop", "web-0", "p1", "7", 1, createdAt
	p.Spec.NodeName, p.Spec.Containers = "edge-pump", []corev1.Container{{Name: "web", Image: image}}
	p.Status.Phase = corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: createdAt}}
	return p
}

// idle is a device that has applied all that it should, and nothing of the pod.
func idle() World {
	return World{
		Looked: true, PlaceTimeout: 300,
		Device: Device{Name: "pump", State: device.Connected, Believed: true, Edited: true, Adds: true, Applied: true},
		App:    App{Look: device.Look{Rendered: true, RenderedVersion: "1", ReportedVersion: "1"}},
		Wanted: Wanted{Name: application, Image: image, Containers: 1, LeftOut: []string{"enableServiceLinks: there are none"}},
	}
}

// settled lets Flight Control and the agent do all that they do.
func settled(w World) World {
	for range 10 {
		w = Settle(nil, w)
	}
	return w
}

// runs is a World in which the pod runs.
func runs() World { return settled(Perform(idle(), Send{application, image})) }

// safe: never two copies, no Ready without evidence, a receipt is closed by evidence alone, one addition at a time, and removals
// never wait.
func safe(in input, s fsm.Step[*Pod]) error {
	for _, e := range s.Decision.Do {
		if err := safeEffect(in, e); err != nil {
			return err
		}
	}
	w := in.World
	blind := !w.Looked || w.Blind || w.Device.State == ""
	was, is := in.Obj.Progress.Phase, s.Obj.Progress.Phase
	switch {
	case is == Running && was != Running && !w.runs(in.Obj.known()):
		return errors.New("runs without evidence")
	case is == Running && !blind && (!w.Device.Believed || !w.complete() || !w.Sent()):
		return errors.New("still runs against the evidence")
	case in.Obj.DeletionTimestamp != nil && is != Leaving:
		return errors.New("is to be deleted, and does not leave")
	case was == Leaving && !blind && w.App.InSpec && w.Device.Edited && len(s.Decision.Do) == 0 && !s.Decision.BackOff:
		return errors.New("waits with a removal")
	}
	return safeStatus(in, Machine.Reduce(in, s, nil).Obj, blind)
}

func safeEffect(in input, e fsm.Effect) error {
	w, d := in.World, in.World.Device
	if !w.Looked || w.Blind || d.State == "" {
		return fmt.Errorf("does %s without having looked", e)
	}
	switch e := e.(type) {
	case Send:
		switch {
		case in.Obj.DeletionTimestamp != nil:
			return errors.New("sends a pod that is to be deleted")
		case !d.Adds || d.Newcomer != "" || !d.Edited || !d.Believed:
			return errors.New("adds a pod to a device that takes none, or has another on its way")
		case len(w.Wanted.Refused)+len(w.Wanted.Missing) > 0 || e.Image != w.Wanted.Image || w.Sent():
			return errors.New("sends what cannot be honoured, or is there")
		}
	case Remove:
		late := in.Obj.Progress.Phase == Quarantined && !d.Applied && w.Sent()
		switch {
		case !d.Edited:
			return errors.New("edits a device that must not be edited")
		case in.Obj.DeletionTimestamp == nil && !late:
			return errors.New("removes a living pod that keeps no other change from the device")
		case e.Newcomer != "" && (e.Newcomer != d.Newcomer || d.Applied || in.Obj.DeletionTimestamp == nil):
			return errors.New("takes out a pod that is in the way of nothing")
		}
	case Nudge:
		if !d.Edited || !d.Believed {
			return errors.New("nudges a device that does not hear")
		}
	case Release:
		if _, doubt := w.App.Gone(); doubt != "" || e.Evidence() == "" || in.Obj.DeletionTimestamp == nil || e.UID != in.Obj.UID {
			return fmt.Errorf("lets the object go in doubt: %s", doubt)
		}
	}
	return nil
}

// safeStatus looks at what users see.
func safeStatus(in input, out *Pod, blind bool) error {
	ready := func(p *Pod) bool {
		c := p.condition(corev1.PodReady)
		return c != nil && c.Status == corev1.ConditionTrue
	}
	switch {
	case blind && ready(out) != ready(in.Obj):
		return errors.New("says something of a device that was not read")
	case !blind && ready(out) && (out.Progress.Phase != Running || !in.World.complete() || !in.World.Device.Believed):
		return errors.New("is Ready without evidence")
	case out.Status.Phase == corev1.PodFailed || out.Status.Phase == corev1.PodSucceeded:
		return errors.New("has ended, which makes its controller make another one at once")
	case out.condition(corev1.PodScheduled) == nil:
		return errors.New("loses a condition of others")
	}
	return nil
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

// anyPod is a pod in some state in which something may have happened.
func anyPod(r *rand.Rand, phase fsm.Phase) (*Pod, World) {
	p, w := newPod(), pick(r, idle, idle, runs, runs, runs)()
	for range r.IntN(4) {
		happen(r, &w)
	}
	w.Looked, w.Blind = r.IntN(16) > 0, r.IntN(16) == 0
	if r.IntN(3) > 0 {
		told(r, p)
	}
	if phase == Leaving || r.IntN(12) == 0 {
		p.DeletionTimestamp = &metav1.Time{Time: createdAt.Time}
	}
	if phase == Quarantined && r.IntN(2) == 0 {
		p.Progress.History = []meta.Transition{{To: Quarantined, Event: NotApplied, Reason: pick(r, ReasonImagePull, ReasonCreateError), Message: "Device pump could not apply the pod in time, and no other change with it."}}
	}
	p.Progress.ObservedGeneration = int64(r.IntN(2))
	return p, w
}

// told is what the status of a pod may say.
func told(r *rand.Rand, p *Pod) {
	since := metav1.NewTime(createdAt.Add(time.Duration(r.IntN(100_000)) * time.Second))
	p.Status.StartTime = &createdAt
	p.Status.Phase = pick(r, corev1.PodPending, corev1.PodRunning)
	c := corev1.ContainerStatus{Name: "web", Image: pick(r, image, image, "imagehub.example.com/web:0"), RestartCount: int32(r.IntN(3)), Started: pick(r, new(true), new(false), nil)}
	switch r.IntN(3) {
	case 0:
		c.State.Waiting = &corev1.ContainerStateWaiting{Reason: string(pick(r, ReasonImagePull, ReasonCreateError, ReasonSending, ReasonTurn)), Message: "It waits."}
	case 1:
		c.State.Running = &corev1.ContainerStateRunning{StartedAt: since}
	}
	if r.IntN(3) == 0 {
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: unknownExit, FinishedAt: since}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{c}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: pick(r, corev1.ConditionTrue, corev1.ConditionFalse), Reason: "Sending", Message: "It waits.", LastTransitionTime: since})
	if r.IntN(8) == 0 {
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	}
}

// row gives a device what a state allows.
func row(w *World, state device.State) {
	d := &w.Device
	d.State = state
	d.Believed = state == device.Connected || state == device.Behind || state == device.Shared
	d.Edited = d.Believed || state == device.Silent
	d.Adds = state == device.Connected
}

// happen lets one thing happen to a World.
func happen(r *rand.Rand, w *World) {
	switch r.IntN(20) {
	case 0, 1:
		row(w, pick(r, device.Silent, device.Gone, device.Captured, device.Paused, device.Shared, device.Behind, ""))
		w.Device.Owner, w.Device.LastSeen, w.Device.Other = pick(r, "", "Fleet/pumps"), pick(r, "", "2023-11-14 22:10:00Z"), "ffffffff"
	case 2: // heard, but not to be edited
		row(w, device.Paused)
		w.Device.Believed = true
	case 3:
		row(w, device.Behind)
		w.Device.Newcomer, w.Device.Applied = other, r.IntN(2) == 0
	case 4:
		w.App.Reported, w.App.Found = false, false
	case 5:
		w.App.InRendered = !w.App.InRendered
	case 6:
		w.App.ReportedVersion, w.Device.Applied, w.Device.Adds = "0", false, false
		w.Device.GaveUp = r.IntN(2) == 0
		w.Device.Says = pick(r, "", "While Preparing: prefetch failed for imagehub.example.com/web:1: service unavailable (network issue)")
	case 7:
		w.App.Rendered, w.App.RenderedImage = false, ""
	case 8:
		w.App.InSpec, w.App.Image = false, ""
	case 9:
		w.App.Image, w.App.RenderedImage = "imagehub.example.com/web:0", pick(r, "", "imagehub.example.com/web:0")
	case 10:
		w.App.RenderedImage = "imagehub.example.com/web:0"
	case 11:
		w.App.Status, w.App.Ready = pick(r, fleet.AppStarting, fleet.AppError, fleet.AppCompleted, fleet.AppUnknown), 0
	case 12:
		w.App.Restarts = r.IntN(5)
	case 13:
		w.App.Of = 2
	case 14:
		w.Wanted.Refused = []string{"containers[0].livenessProbe: a device runs no probes"}
	case 15:
		w.Wanted.Missing = []string{"ConfigMap shop/settings does not exist: create it."}
	case 16:
		w.Device.Waits, w.Device.Says = true, "While Preparing: update policy failed: precondition not met (waiting for dependencies)"
	case 17:
		w.App.CannotPull = true
	case 18:
		w.Device.NudgedAt = createdAt.Unix() + int64(r.IntN(100_000))
	case 19:
		w.App.Mark, w.App.Stale = pick(r, "", "1"), r.IntN(2) == 0
		w.Device.Unrendered, w.App.Restored = pick(r, "", "1 invalid configuration: site"), r.IntN(2) == 0
	}
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }

// leavingPod is a pod that runs and is deleted.
func leavingPod() *Pod {
	p := newPod()
	p.DeletionTimestamp = &createdAt
	return p
}

// TestLeavingPath drills a pod that is deleted while it runs.
func TestLeavingPath(t *testing.T) {
	b := newBench()
	b.Object, b.World, b.End = leavingPod, runs, "gone"
	fsmtest.Drill(t, b)
}

// TestNewcomerPath drills a pod that is deleted while another one keeps its device from applying anything.
func TestNewcomerPath(t *testing.T) {
	b := newBench()
	b.Object, b.End = leavingPod, "gone"
	b.World, b.Settle = newcomerWorld, newcomerSettles
	fsmtest.Drill(t, b)
}

// newcomerWorld is a device that applies nothing because of another pod.
func newcomerWorld() World {
	w := runs()
	row(&w, device.Behind)
	w.Device.Newcomer, w.Device.Applied, w.App.RenderedVersion = other, false, "9"
	return w
}

func newcomerSettles(o *Pod, w World) World {
	if w.Device.Newcomer != "" && w.App.InRendered == w.App.InSpec {
		return w // the agent applies nothing
	}
	return Settle(o, w)
}

// TestEditPath drills a pod whose image was edited.
func TestEditPath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := runs()
		w.Wanted.Image = "imagehub.example.com/web:2"
		return w
	}
	b.Object = func() *Pod {
		p := newPod()
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", Image: image, Started: new(true), Ready: true}}
		return p
	}
	fsmtest.Drill(t, b)
}

// TestQuarantinePath drills a pod whose image appears only after it was taken out.
func TestQuarantinePath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := idle()
		w.Unpullable = true
		return w
	}
	b.Settle = func(o *Pod, w World) World {
		if o.Progress.Phase == Quarantined && !w.App.InSpec {
			w.Unpullable = false
		}
		return Settle(o, w)
	}
	// A status that was lost makes the pod be tried once more, or once less.
	b.Role = func(e fsm.Effect) string {
		if _, is := e.(Release); is {
			return e.String()
		}
		return ""
	}
	fsmtest.Drill(t, b)
}
