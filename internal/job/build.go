package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Plan is what a Job is made from. What it says wins over the template.
type Plan struct {
	Namespace, Name string
	// Owner is the controller by which the Job is known to be ours; the Job goes with it.
	Owner    metav1.OwnerReference
	Template batchv1.JobTemplateSpec
	// Once is for work that must not be done twice: there is never a second pod.
	Once bool
	// Suspended Jobs make no pod, and their deadline does not run, until they are released.
	Suspended bool
	// Deadline is how long it may run; 0 is as the template says.
	Deadline time.Duration
	// TTL is how long it stays after its end; 0 is until its owner goes.
	TTL time.Duration
	// PodFinalizer keeps the pod, and with it the message that it ended with, until somebody
	// has read it. A finalizer on the Job would not: its pod goes all the same.
	PodFinalizer string
}

// New builds the Job of a plan. The template is left as it is.
func New(p Plan) *batchv1.Job {
	t := p.Template.DeepCopy()
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, Labels: t.Labels, Annotations: t.Annotations,
			OwnerReferences: []metav1.OwnerReference{p.Owner},
		},
		Spec: t.Spec,
	}
	s := &j.Spec
	s.Suspend, s.TTLSecondsAfterFinished = nil, nil
	if p.Suspended {
		s.Suspend = ptr.To(true)
	}
	if p.TTL > 0 {
		s.TTLSecondsAfterFinished = ptr.To(int32(p.TTL / time.Second))
	}
	if p.Deadline > 0 {
		s.ActiveDeadlineSeconds = ptr.To(int64(p.Deadline / time.Second))
	}
	if p.PodFinalizer != "" {
		s.Template.Finalizers = append(s.Template.Finalizers, p.PodFinalizer)
	}
	if s.Template.Spec.RestartPolicy == "" {
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	if p.Once {
		runOnce(s)
	}
	return j
}

// runOnce closes every way to a second pod or a second start of a container. A podFailurePolicy
// is one: Ignore makes another pod in spite of a backoffLimit of 0. So is replacing a pod that
// is still terminating.
func runOnce(s *batchv1.JobSpec) {
	s.BackoffLimit, s.Parallelism, s.Completions = ptr.To[int32](0), ptr.To[int32](1), ptr.To[int32](1)
	s.PodReplacementPolicy = ptr.To(batchv1.Failed)
	s.PodFailurePolicy, s.SuccessPolicy = nil, nil
	s.CompletionMode, s.BackoffLimitPerIndex, s.MaxFailedIndexes = nil, nil, nil
	s.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	for i := range s.Template.Spec.Containers {
		s.Template.Spec.Containers[i].RestartPolicy, s.Template.Spec.Containers[i].RestartPolicyRules = nil, nil
	}
}
