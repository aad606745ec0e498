//go:build full

package remediation

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// fault is what somebody who is above all policies does to the Job of an execution, or to its pod.
type fault struct {
	name string
	do   func(*once, *remediationv1.KubernetesExecution)
	// unknown says that it takes away so much that nobody can know any more: before the action ran, and after it.
	before, after bool
}

// faults are those that the policies forbid to everybody but system:masters, and evictions, which they allow.
var faults = []fault{
	{name: "pod deleted", do: func(s *once, x *remediationv1.KubernetesExecution) { s.deletePod(x, nil) }},
	{name: "pod evicted", do: (*once).evictPod},
	{name: "pod stripped and force-deleted", do: (*once).removePod},
	{name: "job deleted in the background", do: deleteJob(metav1.DeletePropagationBackground), before: true},
	{name: "job deleted in the foreground", do: deleteJob(metav1.DeletePropagationForeground), before: true},
	{name: "job gone by its TTL", do: (*once).expireJob, before: true},
	{name: "job and pod removed", do: (*once).loseWitnesses, before: true},
	{name: "job, pod and token removed", do: func(s *once, x *remediationv1.KubernetesExecution) {
		s.loseWitnesses(x)
		s.removeToken()
	}, before: true, after: true},
}

// TestOnceBeforeTheActionRuns strikes while the Job is released and its pod has no node.
func TestOnceBeforeTheActionRuns(t *testing.T) {
	s := newOnce(t)
	for i, f := range faults {
		name := fmt.Sprintf("before-%d", i)
		s.cordon(true)
		x, began := s.asks(name)
		s.released(x)
		f.do(s, x)
		s.cordon(false)
		s.judged(f.name, x, began, f.before)
	}
}

// TestOnceAfterTheActionRan strikes while no manager runs, after the action has changed the target.
func TestOnceAfterTheActionRan(t *testing.T) {
	s := newOnce(t)
	for i, f := range faults {
		name := fmt.Sprintf("after-%d", i)
		s.cordon(true)
		x, began := s.asks(name)
		s.released(x)
		s.manager.Kill()
		s.cordon(false)
		s.hasEnded(x)
		f.do(s, x)
		s.manager.Start()
		s.judged(f.name, x, began, f.after)
	}
}

// hasEnded waits until the pod of an action has ended well.
func (s *once) hasEnded(x *remediationv1.KubernetesExecution) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if pod := s.pod(x); pod == nil || pod.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("the action of %s has not ended", x.Name)
		}
		return nil
	})
}

// TestOnceOnASilentNode: the node stands still for two minutes while the Job is released.
func TestOnceOnASilentNode(t *testing.T) {
	s := newOnce(t)
	node := s.bed.Node(1)
	s.cordon(true)
	x, began := s.asks("silent")
	s.released(x)
	if err := node.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.schedulable(t.Context(), "uncordon", node)
	thaw := time.NewTimer(2 * time.Minute) // longer than the Job may run
	<-thaw.C
	if err := node.Thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.cordon(false)
	s.judged("a silent node", x, began, true)
}

// judged waits for the end, and tries whether the next execution waits for an acknowledgement where it must.
func (s *once) judged(fault string, x *remediationv1.KubernetesExecution, began time.Time, mayBeUnknown bool) {
	s.Helper()
	is := s.over(x.Name)
	s.countFaulted()
	unknown := s.truthful(is, began)
	harness.Row(s.T, "%s: %s (%s), %d effects", fault, is.Status.Effect, is.Status.Reason, s.effects(began))
	if !unknown {
		return
	}
	if !mayBeUnknown {
		s.Errorf("%s: the outcome is unknown although a witness was left: %s", fault, message(is))
	}
	s.acknowledged(is, "next-"+x.Name)
}

// cordon keeps new pods off every node. It ends with the test.
func (s *once) cordon(on bool) {
	s.Helper()
	if on {
		s.Cleanup(func() { s.schedulable(context.WithoutCancel(s.Context()), "uncordon", s.bed.Nodes()...) })
		s.schedulable(s.Context(), "cordon", s.bed.Nodes()...)
		return
	}
	s.schedulable(s.Context(), "uncordon", s.bed.Nodes()...)
}

func (s *once) schedulable(ctx context.Context, verb string, nodes ...*bed.Node) {
	s.Helper()
	for _, node := range nodes {
		if out, err := s.bed.Kubectl(ctx, verb, node.Name()); err != nil {
			s.Errorf("%v\n%s", err, out)
		}
	}
}

func (s *once) deletePod(x *remediationv1.KubernetesExecution, grace *int64) {
	s.Helper()
	pod := s.pod(x)
	if pod == nil {
		s.Fatalf("%s has no pod", x.Name)
	}
	if err := s.admin.Delete(s.Context(), pod, &client.DeleteOptions{GracePeriodSeconds: grace}); client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
}

func (s *once) evictPod(x *remediationv1.KubernetesExecution) {
	s.Helper()
	pod := s.pod(x)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	if err := s.admin.SubResource("eviction").Create(s.Context(), pod, eviction); err != nil {
		s.Fatal(err)
	}
}

// removePod leaves nothing of a pod: neither its finalizers nor its report.
func (s *once) removePod(x *remediationv1.KubernetesExecution) {
	s.Helper()
	strip := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		pod := s.pod(x)
		if pod == nil {
			return nil
		}
		err := errors.Join(
			client.IgnoreNotFound(s.admin.Patch(s.Context(), pod, strip)),
			client.IgnoreNotFound(s.admin.Delete(s.Context(), pod, client.GracePeriodSeconds(0))))
		return errors.Join(err, harness.Gone(s.Context(), s.admin, pod))
	})
}

func deleteJob(how metav1.DeletionPropagation) func(*once, *remediationv1.KubernetesExecution) {
	return func(s *once, x *remediationv1.KubernetesExecution) {
		s.Helper()
		if err := s.admin.Delete(s.Context(), s.job(x), client.PropagationPolicy(how)); err != nil {
			s.Fatal(err)
		}
	}
}

// loseWitnesses removes the Job of an execution, and its pod.
func (s *once) loseWitnesses(x *remediationv1.KubernetesExecution) {
	s.Helper()
	deleteJob(metav1.DeletePropagationBackground)(s, x)
	s.removePod(x)
}

// expireJob lets a Job go by its TTL, which is minutes otherwise. One that has not ended is given up first.
func (s *once) expireJob(x *remediationv1.KubernetesExecution) {
	s.Helper()
	job := s.job(x)
	next := job.DeepCopy()
	next.Spec.TTLSecondsAfterFinished, next.Spec.ActiveDeadlineSeconds = ptr.To[int32](0), ptr.To[int64](1)
	if err := s.admin.Patch(s.Context(), next, client.MergeFrom(job)); err != nil {
		s.Fatal(err)
	}
}

// removeToken removes what the action left on its target.
func (s *once) removeToken() {
	s.Helper()
	if out, err := s.bed.Kubectl(s.Context(), "annotate", "deployment/web", "-n", s.namespace, remediationv1.TokenAnnotation+"-"); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
}
