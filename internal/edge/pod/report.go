package pod

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// HonouredCondition says what of a pod its device does not do.
const HonouredCondition corev1.PodConditionType = "edge.statecraft.dev/Honoured"

// The reasons of HonouredCondition.
const (
	reasonHonoured = "AllHonoured"
	reasonLeftOut  = "LeftOut"
)

// report writes the pod's status as a kubelet would. Conditions of others stay, such as PodScheduled and DisruptionTarget. While
// nothing is known of the device, nothing is said of it: that Flight Control does not answer says nothing of a pod.
func report(out *Pod, in input, pass fsm.Pass) {
	w := in.World
	if !w.Looked || w.Blind || w.Device.State == "" {
		return
	}
	now := metav1.NewTime(in.Now.Truncate(time.Second))
	phase := out.Progress.Phase
	if out.Status.StartTime == nil {
		out.Status.StartTime = &now
	}
	if phase == Running {
		out.Status.Phase = corev1.PodRunning
	} else if out.Status.Phase == "" {
		out.Status.Phase = corev1.PodPending
	}
	why, words := said(out, in, pass)
	reportContainer(out, in, why, words)
	reportConditions(out, in, why, words, now)
	out.Status.Reason, out.Status.Message = "", ""
	switch phase { // what kubectl shows instead of the phase
	case Refused, Silent, Captured:
		out.Status.Reason, out.Status.Message = string(why), words
	}
}

// said are the words of a pass: of what failed, or of the decision. While it backs off, those of the failure stand.
func said(out *Pod, in input, pass fsm.Pass) (why fsm.Reason, words string) {
	for _, o := range pass.Outcomes {
		if o.Err != nil {
			return cmp.Or(fsm.ReasonOf(o.Err), pass.Decision.Reason), o.Message()
		}
	}
	if at := in.Obj.Progress.RetryAt; at != nil && in.Now.Before(at.Time) && len(pass.Outcomes) == 0 {
		if c := out.condition(corev1.ContainersReady); c != nil && c.Reason != "" {
			return fsm.Reason(c.Reason), c.Message
		}
	}
	return pass.Decision.Reason, pass.Decision.Message
}

// reportContainer tells of the only container. Its image is that which was tried or ran last.
func reportContainer(out *Pod, in input, why fsm.Reason, words string) {
	w, phase := in.World, out.Progress.Phase
	if len(in.Obj.Spec.Containers) == 0 {
		return
	}
	if len(out.Status.ContainerStatuses) == 0 {
		out.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: in.Obj.Spec.Containers[0].Name, Image: w.Wanted.Image, Started: new(false)}}
	}
	c := &out.Status.ContainerStatuses[0]
	restarted(c, in, phase)
	switch phase {
	case Running:
		c.Ready, c.Started, c.Image = true, new(true), w.Wanted.Image
		if c.State.Running == nil {
			c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(in.Now.Truncate(time.Second))}}
		}
	case Silent, Captured: // what was said last stands, but nothing is ready
		c.Ready = false
	case Leaving:
		if c.Ready = false; c.State.Running == nil {
			c.State = waiting(why, words)
		}
	default:
		c.Ready, c.State = false, waiting(why, words)
		switch {
		case !w.App.InSpec || phase == Quarantined:
			c.Image, c.Started = cmp.Or(w.Wanted.Image, c.Image), new(false)
		case phase == Sending: // one image is about to replace another
			c.Started = nil
		}
	}
}

func waiting(why fsm.Reason, words string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: string(why), Message: words}}
}

// restarted notes how often the device has restarted the container, and when that was last seen to grow. Flight Control does
// not tell how it ended.
func restarted(c *corev1.ContainerStatus, in input, phase fsm.Phase) {
	w := in.World
	if !w.App.Found || !w.Device.Believed {
		return
	}
	if grown := w.App.Restarts > int(c.RestartCount); grown && (phase == Running || phase == Crashing) {
		c.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: unknownExit, Reason: "ContainerStatusUnknown", Message: "The device has restarted the container; Flight Control does not tell how it ended.",
			FinishedAt: metav1.NewTime(in.Now.Truncate(time.Second)),
		}}
	}
	c.RestartCount = int32(min(w.App.Restarts, 1<<30)) //nolint:gosec // it is limited
}

// unknownExit is no code that a process ends with.
const unknownExit = -1

func reportConditions(out *Pod, in input, why fsm.Reason, words string, now metav1.Time) {
	running := out.Progress.Phase == Running
	set := func(of corev1.PodConditionType, is bool, reason, message string) {
		setCondition(&out.Status, corev1.PodCondition{Type: of, Status: status(is), Reason: reason, Message: message, LastTransitionTime: now})
	}
	reason := string(why)
	if running {
		reason, words = "", ""
	}
	set(corev1.PodInitialized, true, "", "")
	set(corev1.ContainersReady, running, reason, words)
	if gate, shut := shutGate(out); running && shut {
		set(corev1.PodReady, false, "ReadinessGatesNotReady", "The condition "+gate+", a readiness gate of the pod, is not true.")
	} else {
		set(corev1.PodReady, running, reason, words)
	}
	switch w := in.World.Wanted; {
	case len(w.Refused) > 0:
		set(HonouredCondition, false, string(ReasonUnsupported), refusal(in.World))
	case len(w.LeftOut) > 0:
		set(HonouredCondition, true, reasonLeftOut, "Left out: "+list(w.LeftOut)+".")
	default:
		set(HonouredCondition, true, reasonHonoured, "The device does all that the pod asks for.")
	}
}

func status(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// shutGate is a condition that the pod waits for, besides those of its containers.
func shutGate(p *Pod) (gate string, is bool) {
	for _, g := range p.Spec.ReadinessGates {
		if c := p.condition(g.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			return string(g.ConditionType), true
		}
	}
	return "", false
}

// setCondition changes a condition, and the time only with its status.
func setCondition(s *corev1.PodStatus, c corev1.PodCondition) {
	for i := range s.Conditions {
		have := &s.Conditions[i]
		if have.Type != c.Type {
			continue
		}
		if have.Status == c.Status {
			c.LastTransitionTime = have.LastTransitionTime
		}
		c.LastProbeTime, c.ObservedGeneration = have.LastProbeTime, have.ObservedGeneration
		*have = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}
