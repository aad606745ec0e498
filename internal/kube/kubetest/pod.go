package kubetest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// PodProgress is the annotation that keeps the progress of a Pod.
const PodProgress = "test.statecraft.dev/progress"

// Pod is a Pod that a machine runs over.
type Pod struct {
	*corev1.Pod
	Progress meta.Progress
}

// NewPod is a Pod as a machine sees it.
func NewPod(p *corev1.Pod) *Pod { return &Pod{Pod: p} }

// Carrier is the Pod itself.
func (p *Pod) Carrier() *corev1.Pod { return p.Pod }

// GetProgress implements fsm.Subject.
func (p *Pod) GetProgress() *meta.Progress { return &p.Progress }

// DeepCopy implements fsm.Subject.
func (p *Pod) DeepCopy() *Pod { return &Pod{Pod: p.Pod.DeepCopy(), Progress: *p.Progress.DeepCopy()} }

// DeepCopyObject implements runtime.Object.
func (p *Pod) DeepCopyObject() runtime.Object { return p.DeepCopy() }
