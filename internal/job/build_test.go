package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// eager is a template that tries to run often, at once and for long.
func eager() batchv1.JobTemplateSpec {
	return batchv1.JobTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "till"}, Annotations: map[string]string{"a": "b"}, Name: "theirs"},
		Spec: batchv1.JobSpec{
			Suspend: ptr.To(true), TTLSecondsAfterFinished: ptr.To[int32](1), ActiveDeadlineSeconds: ptr.To[int64](9),
			BackoffLimit: ptr.To[int32](6), Parallelism: ptr.To[int32](3), Completions: ptr.To[int32](5),
			CompletionMode: ptr.To(batchv1.IndexedCompletion), BackoffLimitPerIndex: ptr.To[int32](2), MaxFailedIndexes: ptr.To[int32](2),
			SuccessPolicy: &batchv1.SuccessPolicy{}, PodFailurePolicy: &batchv1.PodFailurePolicy{}, PodReplacementPolicy: ptr.To(batchv1.TerminatingOrFailed),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyOnFailure,
				Containers: []corev1.Container{{
					Name: "look", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), RestartPolicyRules: []corev1.ContainerRestartRule{{}},
				}},
			}},
		},
	}
}

var owner = metav1.OwnerReference{Kind: "Lamp", Name: "l", UID: "u1", Controller: ptr.To(true)}

func TestATemplateIsFollowed(t *testing.T) {
	template := eager()
	made := New(Plan{Namespace: "shop", Name: "ours", Owner: owner, Template: template})
	want := eager().Spec
	want.Suspend, want.TTLSecondsAfterFinished = nil, nil
	if diff := cmp.Diff(want, made.Spec); diff != "" {
		t.Errorf("but for what would keep it from running, or take it away: %s", diff)
	}
	wantMeta := metav1.ObjectMeta{
		Namespace: "shop", Name: "ours", Labels: template.Labels, Annotations: template.Annotations, OwnerReferences: []metav1.OwnerReference{owner},
	}
	if diff := cmp.Diff(wantMeta, made.ObjectMeta); diff != "" {
		t.Error(diff)
	}
}

func TestAPlanWinsOverItsTemplate(t *testing.T) {
	template := eager()
	made := New(Plan{
		Owner: owner, Template: template, Once: true, Suspended: true, Deadline: 5 * time.Minute, TTL: time.Hour, PodFinalizer: "example.com/result",
	})
	want := batchv1.JobSpec{
		Suspend: ptr.To(true), TTLSecondsAfterFinished: ptr.To[int32](3600), ActiveDeadlineSeconds: ptr.To[int64](300),
		BackoffLimit: ptr.To[int32](0), Parallelism: ptr.To[int32](1), Completions: ptr.To[int32](1), PodReplacementPolicy: ptr.To(batchv1.Failed),
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"example.com/result"}},
			Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "look"}}},
		},
	}
	if diff := cmp.Diff(want, made.Spec); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(eager(), template); diff != "" {
		t.Errorf("the template was written to: %s", diff)
	}
}

func TestAPodWithoutAPolicyIsNotRestarted(t *testing.T) {
	if made := New(Plan{}); made.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("restart policy %q", made.Spec.Template.Spec.RestartPolicy)
	}
}
