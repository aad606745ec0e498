package pod

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Pod is a pod with its progress, which an annotation keeps.
type Pod struct {
	corev1.Pod `json:",inline"`
	Progress   meta.Progress `json:"progress,omitzero"`
}

// Of is a pod as the API server has it, with no progress yet.
func Of(pod *corev1.Pod) *Pod { return &Pod{Pod: *pod} }

// Carrier is the pod as the API server has it.
func (p *Pod) Carrier() *corev1.Pod { return &p.Pod }

// GetProgress is where the machine keeps its place.
func (p *Pod) GetProgress() *meta.Progress { return &p.Progress }

// DeepCopy copies all of it.
func (p *Pod) DeepCopy() *Pod {
	out := &Pod{}
	p.Pod.DeepCopyInto(&out.Pod)
	p.Progress.DeepCopyInto(&out.Progress)
	return out
}

// DeepCopyObject implements runtime.Object.
func (p *Pod) DeepCopyObject() runtime.Object { return p.DeepCopy() }

// container is the status of the only container; nil if none was reported.
func (p *Pod) container() *corev1.ContainerStatus {
	if len(p.Status.ContainerStatuses) == 0 {
		return nil
	}
	return &p.Status.ContainerStatuses[0]
}

// restarts is how often the device had restarted the container when that was last told.
func (p *Pod) restarts() int {
	if c := p.container(); c != nil {
		return int(c.RestartCount)
	}
	return 0
}

// ran is the image with which the container ran last; "" is that it did not, as far as is known.
func (p *Pod) ran() string {
	if c := p.container(); c != nil && c.Started != nil && *c.Started {
		return c.Image
	}
	return ""
}

// known is the only image that the device can have under the pod's name: the one that ran, or that was sent when the device had
// none. While one replaces another, or if the status was lost, it is not known.
func (p *Pod) known() string {
	if c := p.container(); c != nil && c.Started != nil {
		return c.Image
	}
	return ""
}

// lastRestart is when a restart was last seen; zero is never.
func (p *Pod) lastRestart() metav1.Time {
	if c := p.container(); c != nil && c.LastTerminationState.Terminated != nil {
		return c.LastTerminationState.Terminated.FinishedAt
	}
	return metav1.Time{}
}

func (p *Pod) condition(of corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == of {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// WasSent says that the pod is in a phase that it comes to only after its application was put into the device's spec.
func (p *Pod) WasSent() bool {
	switch p.Progress.Phase {
	case Preparing, Running, Crashing, Quarantined:
		return true
	}
	return false
}

// NeedsRendered says that only what was rendered can show which image runs: the device may have another one under the pod's name.
func (p *Pod) NeedsRendered() bool {
	if p.Progress.Phase != Preparing && p.Progress.Phase != Crashing && p.Progress.Phase != Bound {
		return false
	}
	return len(p.Spec.Containers) > 0 && p.known() != "" && p.known() != p.Spec.Containers[0].Image || p.Progress.Phase == Preparing && p.known() == ""
}
