//go:build full

package remediation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	// goneWithin is how long a namespace may take to go, from its deletion or from when a manager runs again.
	goneWithin = 2 * time.Minute
	// fewErrors is how many errors the manager may log meanwhile. One that tries in vain logs hundreds.
	fewErrors = 20
)

// deletion is a moment of an execution at which its namespace is deleted.
type deletion struct {
	name string
	// cordoned keeps the pod of the action from running.
	cordoned bool
	until    func(*once, *remediationv1.KubernetesExecution)
	// stopped says that no manager runs then.
	stopped bool
}

var deletions = []deletion{
	{name: "while the action waits for a node", cordoned: true, until: (*once).hasAPod},
	{name: "while the action waits for a node, without a manager", cordoned: true, until: (*once).hasAPod, stopped: true},
	{name: "when the Job was just released", until: (*once).isReleased},
	{name: "when the Job was just released, without a manager", until: (*once).isReleased, stopped: true},
	{name: "before the Job is released, without a manager", until: (*once).hasBegun, stopped: true},
	{name: "when the action has ended, without a manager", cordoned: true, until: (*once).hasRun, stopped: true},
	{name: "when no witness is left, without a manager", cordoned: true, until: (*once).hasNoWitness, stopped: true},
}

// TestOnceInADeletedNamespace deletes the namespace of an execution. Admission keeps the execution, and a finalizer its pod,
// until a manager has read what the action did; then all of it goes, without anybody's help.
func TestOnceInADeletedNamespace(t *testing.T) {
	s := newOnce(t)
	for _, d := range deletions {
		if !t.Run(d.name, func(t *testing.T) {
			(&once{stage: stageOn(t, s.bed), manager: s.manager, counted: 2}).losesItsNamespace(d)
		}) {
			return // the manager may not run
		}
	}
}

func (s *once) losesItsNamespace(d deletion) {
	s.Helper()
	s.cordon(d.cordoned)
	x, began := s.asks("going")
	d.until(s, x)
	if d.stopped {
		s.manager.Kill()
	}
	said := len(s.manager.Log())
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := s.admin.Delete(s.Context(), ns); err != nil {
		s.Fatal(err)
	}
	if d.stopped {
		s.keepsItsNamespace(x, ns)
		s.manager.Start()
	}
	from := time.Now()
	harness.Within(s.T, goneWithin, poll, func() error { return s.isGone(ns) })
	took := time.Since(from).Round(time.Second)
	log := s.manager.Log()[said:]
	errs, failed := strings.Count(log, `"level":"error"`), strings.Count(log, "effect failed")
	harness.Row(s.T, "the namespace was gone after %s; %d effects; the manager logged %d errors and %d effects that failed", took, s.effects(began), errs, failed)
	if errs > fewErrors || failed > fewErrors {
		s.Errorf("the manager logged:\n%s", log)
	}
	if n := s.effects(began); n > 1 {
		s.Errorf("%d effects", n)
	}
	s.sweepsReservations()
}

// isGone is nil if the namespace is gone, and says else what keeps it.
func (s *once) isGone(ns *corev1.Namespace) error {
	err := harness.Gone(s.Context(), s.admin, ns)
	if err == nil {
		return nil
	}
	is := &corev1.Namespace{}
	if client.IgnoreNotFound(s.admin.Get(s.Context(), client.ObjectKeyFromObject(ns), is)) == nil {
		for _, c := range is.Status.Conditions {
			err = fmt.Errorf("%w; %s=%s: %s", err, c.Type, c.Status, c.Message)
		}
	}
	return err
}

// keepsItsNamespace waits until the namespace controller has come upon the execution or its pod, which stay.
func (s *once) keepsItsNamespace(x *remediationv1.KubernetesExecution, ns *corev1.Namespace) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if pod := s.pod(x); pod != nil && pod.DeletionTimestamp != nil {
			return nil
		}
		if err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(ns), ns); err != nil {
			return err
		}
		for _, c := range ns.Status.Conditions {
			if c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("nothing keeps namespace %s: %v", ns.Name, ns.Status.Conditions)
	})
	if is := s.get(x.Name); is.Status.Phase != "executing" {
		s.Errorf("without a manager %s became %s", is.Name, is.Status.Phase)
	}
}

// sweepsReservations restarts the manager, which looks through the Leases first: none is left of a target that is gone, marked or not.
func (s *once) sweepsReservations() {
	s.Helper()
	s.manager.Stop()
	s.manager.Start()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		leases := &coordinationv1.LeaseList{}
		if err := s.admin.List(s.Context(), leases, client.InNamespace(harness.SystemNamespace)); err != nil {
			return err
		}
		for i := range leases.Items {
			if of, err := read.TargetOf(&leases.Items[i]); err == nil && of.Namespace == s.namespace {
				return fmt.Errorf("Lease %s of %s is left", leases.Items[i].Name, of.Title())
			}
		}
		return nil
	})
}

func (s *once) hasAPod(x *remediationv1.KubernetesExecution) { s.released(x) }

func (s *once) isReleased(x *remediationv1.KubernetesExecution) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, 5*time.Millisecond, func() error {
		if job := s.job(x); job == nil || ptr.Deref(job.Spec.Suspend, false) {
			return fmt.Errorf("the Job of %s is not released: %s", x.Name, s.get(x.Name).Status.WaitingFor)
		}
		return nil
	})
}

// hasBegun returns when the execution is marked: its Job is about to be made, or just was.
func (s *once) hasBegun(x *remediationv1.KubernetesExecution) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, 5*time.Millisecond, func() error {
		if is := s.get(x.Name); is.Annotations[remediationv1.BegunAnnotation] == "" {
			return fmt.Errorf("%s has not begun: %s", x.Name, is.Status.WaitingFor)
		}
		return nil
	})
}

// hasRun returns when the action has ended and no manager has read its report.
func (s *once) hasRun(x *remediationv1.KubernetesExecution) {
	s.Helper()
	s.released(x)
	s.manager.Kill()
	s.cordon(false)
	s.hasEnded(x)
}

func (s *once) hasNoWitness(x *remediationv1.KubernetesExecution) {
	s.Helper()
	s.released(x)
	s.manager.Kill()
	s.loseWitnesses(x)
}
