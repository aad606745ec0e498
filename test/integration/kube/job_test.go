package kube

import (
	"errors"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/job"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// work is a Job of a lamp on a control plane without nodes: the Job controller is real, and the
// test plays the kubelet.
type work struct {
	t   testing.TB
	c   client.Client
	env kube.Env
	*batchv1.Job
	lamp *kubetest.Lamp
}

func newWork(t testing.TB, plan job.Plan) *work {
	t.Helper()
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	w := &work{t: t, c: c, env: envOf(c, namespace), lamp: create(t, c, lampOf(namespace, "l"))}
	plan.Namespace, plan.Name = namespace, "work"
	plan.Owner = child.Controller(w.lamp, kubetest.GroupVersion.WithKind("Lamp"))[0]
	plan.Template.Spec.Template.Spec = corev1.PodSpec{
		NodeName: "elsewhere", Containers: []corev1.Container{{Name: "look", Image: "look"}}, TerminationGracePeriodSeconds: ptr.To[int64](1),
	}
	w.Job = job.New(plan)
	if err := w.env.Writer("test").Create(t.Context(), w.Job); err != nil {
		t.Fatal(err)
	}
	return w
}

// verdict is what an observer would see.
func (w *work) verdict() (job.Verdict, []corev1.Pod) {
	w.t.Helper()
	live := w.env.LiveReader()
	seen := &batchv1.Job{}
	sight, err := read.Find(w.t.Context(), live, client.ObjectKeyFromObject(w.Job), seen, func(j *batchv1.Job) bool {
		return child.OwnedBy(j, w.lamp.UID)
	})
	if err != nil || sight != presence.Here {
		w.t.Fatalf("the Job is %q: %v", sight, err)
	}
	pods, err := live.PodsOf(w.t.Context(), seen)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Job = seen
	return job.Judge(seen, pods), pods
}

// becomes waits for a state.
func (w *work) becomes(want job.State) (v job.Verdict, pods []corev1.Pod) {
	w.t.Helper()
	harness.Eventually(w.t, soon, poll, func() error {
		if v, pods = w.verdict(); v.State != want {
			return fmt.Errorf("%+v, %d pods, want %s", v, len(pods), want)
		}
		return nil
	})
	return v, pods
}

// pod waits for the pod, and ends it as a kubelet would.
func (w *work) podEnds(phase corev1.PodPhase, code int32, message string) {
	w.t.Helper()
	var pods []corev1.Pod
	harness.Eventually(w.t, soon, poll, func() error {
		if _, pods = w.verdict(); len(pods) != 1 {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
	was := pods[0].DeepCopy()
	pods[0].Status.Phase = phase
	pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "look", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: map[bool]string{true: "Completed", false: "Error"}[code == 0], Message: message, ContainerID: "containerd://1",
	}}}}
	if err := w.c.Status().Patch(w.t.Context(), &pods[0], client.MergeFrom(was)); err != nil {
		w.t.Fatal(err)
	}
}

func TestAJobSucceeds(t *testing.T) {
	w := newWork(t, job.Plan{Once: true})
	w.becomes(job.Running)
	w.podEnds(corev1.PodSucceeded, 0, "done")
	if v, pods := w.becomes(job.Succeeded); !v.Over() || len(pods) != 1 {
		t.Errorf("%+v, %d pods", v, len(pods))
	} else if said, ended := job.Message(&pods[0], "look"); said != "done" || !ended {
		t.Errorf("said %q, ended %t", said, ended)
	}
}

func TestAJobThatRunsOnceHasOnePod(t *testing.T) {
	ignore := &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionIgnore, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{7}},
	}}}
	w := newWork(t, job.Plan{Once: true, Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{PodFailurePolicy: ignore, BackoffLimit: ptr.To[int32](3)}}})
	w.podEnds(corev1.PodFailed, 7, "")
	v, pods := w.becomes(job.Failed)
	if v.Reason != batchv1.JobReasonBackoffLimitExceeded || len(pods) != 1 {
		t.Errorf("%+v, %d pods", v, len(pods))
	}
}

func TestAPolicyFailsAJob(t *testing.T) {
	fail := &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42}},
	}}}
	w := newWork(t, job.Plan{Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{PodFailurePolicy: fail}}})
	w.podEnds(corev1.PodFailed, 42, "")
	if v, _ := w.becomes(job.Failed); v.Reason != batchv1.JobReasonPodFailurePolicy {
		t.Errorf("%+v", v)
	}
}

// TestAJobOnASilentNodeIsEnding lets a Job be late whose pod nobody ends.
func TestAJobOnASilentNodeIsEnding(t *testing.T) {
	w := newWork(t, job.Plan{Once: true, Deadline: time.Second, PodFinalizer: "example.com/result"})
	v, pods := w.becomes(job.Ending)
	if v.Will != job.Failed || v.Reason != batchv1.JobReasonDeadlineExceeded || v.Over() || len(pods) != 1 {
		t.Errorf("%+v, %d pods", v, len(pods))
	}
	w.podEnds(corev1.PodFailed, 1, "stopped")
	v, pods = w.becomes(job.Failed)
	if v.Reason != batchv1.JobReasonDeadlineExceeded || len(pods) != 1 {
		t.Fatalf("%+v, %d pods: the finalizer keeps what the pod said", v, len(pods))
	}
	if said, _ := job.Message(&pods[0], "look"); said != "stopped" || job.NeverStarted(&pods[0]) {
		t.Errorf("said %q", said)
	}
	was := pods[0].DeepCopy()
	pods[0].Finalizers = nil
	if err := w.c.Patch(t.Context(), &pods[0], client.MergeFrom(was)); err != nil {
		t.Fatal(err)
	}
}

func TestASuspendedJobIsReleasedOnceAndOnlyItself(t *testing.T) {
	w := newWork(t, job.Plan{Once: true, Suspended: true})
	writer := w.env.Writer("test")
	harness.Eventually(t, soon, poll, func() error { // from then on the Job controller lets it alone
		if v, pods := w.verdict(); v.State != job.Suspended || len(pods) != 0 || len(w.Status.Conditions) == 0 {
			return fmt.Errorf("%+v, %d pods, conditions %+v", v, len(pods), w.Status.Conditions)
		}
		return nil
	})
	if err := writer.ReleaseJob(t.Context(), w.DeepCopy(), kube.Seen{UID: w.UID}); fsm.ClassOf(err) != fsm.Refused {
		t.Errorf("a Job that was not seen is released: %v", err)
	}
	stale := kube.SeenOf(w.Job)
	w.Labels = map[string]string{"touched": "yes"}
	if err := w.c.Update(t.Context(), w.Job); err != nil {
		t.Fatal(err)
	}
	if err := writer.ReleaseJob(t.Context(), w.DeepCopy(), stale); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("a Job that changed is released: %v", err)
	}
	other := kube.SeenOf(w.Job)
	other.UID = "b0c5d9f4-0000-4000-8000-000000000000"
	if err := writer.ReleaseJob(t.Context(), w.DeepCopy(), other); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("another Job is released: %v", err)
	}
	if v, _ := w.verdict(); v.State != job.Suspended {
		t.Fatalf("%+v", v)
	}
	if err := writer.ReleaseJob(t.Context(), w.DeepCopy(), kube.SeenOf(w.Job)); err != nil {
		t.Fatal(err)
	}
	if _, pods := w.becomes(job.Running); len(pods) > 1 {
		t.Errorf("%d pods", len(pods))
	}
}

func TestAJobOfSomebodyElseIsNotOurs(t *testing.T) {
	w := newWork(t, job.Plan{Once: true, Suspended: true})
	ours := func(j *batchv1.Job) bool { return child.OwnedBy(j, "another") }
	if sight, err := read.Find(t.Context(), w.env.LiveReader(), client.ObjectKeyFromObject(w.Job), &batchv1.Job{}, ours); err != nil || sight != presence.Other {
		t.Errorf("%s, %v", sight, err)
	}
	missing := read.Key{Namespace: w.Namespace, Name: "none"}
	if sight, err := read.Find(t.Context(), w.env.LiveReader(), missing, &batchv1.Job{}, ours); err != nil || sight != presence.Gone {
		t.Errorf("%s, %v", sight, err)
	}
	// A pod with the label of a Job is not its pod.
	create(t, w.c, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "squatter", Labels: map[string]string{batchv1.ControllerUidLabel: string(w.UID)}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "look", Image: "look"}}},
	})
	if pods, err := w.env.LiveReader().PodsOf(t.Context(), w.Job); err != nil || len(pods) != 0 {
		t.Errorf("%d pods, %v", len(pods), errors.Join(err))
	}
}
