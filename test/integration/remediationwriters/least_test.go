package remediationwriters

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// leastWrites are those without which an execution with an approval could be done twice, or would not say how far it is.
// execution.Machine says what each of them is for.
var leastWrites = map[string]int{
	"patch kubernetesexecutions.remediation.statecraft.dev/status": 10,
	"patch kubernetesexecutions.remediation.statecraft.dev":        1, // its mark
	"update leases.coordination.k8s.io":                            1, // the reservation of the target
	"create jobs.batch":                                            1,
	"patch jobs.batch":                                             1, // its release
	"patch pods":                                                   1, // the finalizer that keeps what it reported
}

// saysWhy is how often a status says at most that the pod of the action has not started, and that no node takes it.
const saysWhy = 2

// atRest is for how long nothing may be written.
const atRest = 5 * time.Second

// TestAnExecutionTakesTheLeastWrites that are possible, by the API server's own count, and none when it has ended.
func TestAnExecutionTakesTheLeastWrites(t *testing.T) {
	s := newStage(t)
	s.manage(braked(brake.Limits{}), approved)
	s.repair("first") // makes the account of the action, once in a namespace

	since := time.Now()
	s.repair("second")
	wrote := s.wrote(since)
	const statuses = "patch kubernetesexecutions.remediation.statecraft.dev/status"
	wrote[statuses] -= min(saysWhy, max(0, wrote[statuses]-leastWrites[statuses]))
	if diff := cmp.Diff(leastWrites, wrote); diff != "" {
		t.Errorf("writes of an execution (-least +done):\n%s", diff)
	}
	since = time.Now()
	harness.Consistently(t, atRest, poll, func() error {
		if diff := cmp.Diff(map[string]int{}, s.wrote(since)); diff != "" {
			return errors.New("writes at rest:\n" + diff)
		}
		return nil
	})
}

// repair restarts the target by an execution that is approved and performed.
func (s *stage) repair(name string) {
	s.Helper()
	s.restart(name)
	x := s.until(name, "waiting_approval")
	s.approve(x, name)
	pod := s.podOf(x)
	s.runPod(x)
	s.until(name, "completed")
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		var is corev1.Pod
		switch err := s.admin.Get(s.Context(), client.ObjectKeyFromObject(pod), &is); {
		case err != nil:
			return client.IgnoreNotFound(err)
		case len(is.Finalizers) > 0:
			return errors.New("its pod still has a finalizer: " + is.Finalizers[0])
		}
		return nil
	})
}

// wrote counts what the manager wrote, besides events.
func (s *stage) wrote(since time.Time) map[string]int {
	s.Helper()
	writes, err := s.bed.Writes(since, harness.User(area))
	s.must(err)
	counts := bed.CountWrites(bed.WithoutElections(writes))
	for _, event := range []string{"create events", "patch events", "create events.events.k8s.io", "patch events.events.k8s.io"} {
		delete(counts, event)
	}
	return counts
}
