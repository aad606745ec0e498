package remediationwriters

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	writeEvery = 20 * time.Millisecond // each writer
	// manyWrites must have been made at each stage, so that a test that is slow tries no less.
	manyWrites = 100
)

// writers write the target until the test ends: one its status, the other its replicas, as an HPA does.
type writers struct {
	writes atomic.Int64
	began  time.Time
}

func (s *stage) write() *writers {
	w := &writers{began: time.Now()}
	ctx, stop := context.WithCancel(context.Background())
	var both sync.WaitGroup
	for _, write := range []func(n int) error{
		func(n int) error { return s.admin.Status().Patch(ctx, s.web(), merge(`{"status":{"replicas":%d}}`, n)) },
		func(n int) error { return s.admin.Patch(ctx, s.web(), merge(`{"spec":{"replicas":%d}}`, 2+n%8)) },
	} {
		both.Go(func() {
			ticker := time.NewTicker(writeEvery)
			defer ticker.Stop()
			for n := 1; ; n++ {
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
				}
				if err := write(n); err != nil && ctx.Err() == nil {
					s.Errorf("write %d: %v", n, err)
					return
				}
				w.writes.Add(1)
			}
		})
	}
	s.Cleanup(func() { stop(); both.Wait() })
	return w
}

// more waits until many writes more were made.
func (w *writers) more(t *testing.T) {
	t.Helper()
	from := w.writes.Load()
	harness.Eventually(t, timeout.Wait, poll, func() error {
		if n := w.writes.Load() - from; n < manyWrites {
			return fmt.Errorf("%d writes", n)
		}
		return nil
	})
}

// TestWritersVoidNoApproval: a restart is not about replicas or status, so whoever writes those all the time voids no plan, no
// approval and no release, and the action finds a moment between two writes.
func TestWritersVoidNoApproval(t *testing.T) {
	s := newStage(t)
	s.manage(remediation.Defaults(), approved)
	w := s.write()
	x := &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "restart"},
		Spec:       remediationv1.KubernetesExecutionSpec{Action: "rollout_restart", Target: remediationv1.TargetRef{Kind: "Deployment", Name: "web"}},
	}
	s.must(s.dora.Create(t.Context(), x))
	x = s.until(x.Name, "waiting_approval")
	digest := x.Status.Plan.Digest
	w.more(t)
	s.decide(x, "yes", func(a *remediationv1.ExecutionApprovalSpec) { a.PlanDigest = digest })
	since := time.Now()
	report := s.runPod(x)
	w.more(t)
	x = s.until(x.Name, "completed")
	if x.Status.Effect != remediationv1.EffectApplied || x.Status.Plans != 1 || x.Status.Plan.Digest != digest || report.Effect != remediationv1.EffectApplied {
		t.Errorf("%s after %d plans: %+v", x.Status.Effect, x.Status.Plans, report)
	}
	var web appsv1.Deployment
	s.must(s.admin.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "web"}, &web))
	if by := web.Spec.Template.Annotations[action.RestartedBy]; by != string(x.UID) {
		t.Errorf("restarted by %q", by)
	}
	s.wroteOnce(since, "system:serviceaccount:"+s.namespace+":"+x.Status.Plan.Account)
	harness.Row(t, "%d writes of others during a restart, %.0f a second", w.writes.Load(), float64(w.writes.Load())/time.Since(w.began).Seconds())
}

// wroteOnce: of all that the action sent, the API server stored one write.
func (s *stage) wroteOnce(since time.Time, account string) {
	s.Helper()
	writes, err := s.bed.Writes(since, account)
	s.must(err)
	stored, conflicts := 0, 0
	for _, write := range writes {
		switch {
		case write.Code == 409:
			conflicts++
		case write.Code < 300:
			stored++
		default:
			s.Errorf("%+v", write)
		}
	}
	if stored != 1 {
		s.Errorf("the action wrote %d times", stored)
	}
	harness.Row(s.T, "%d conflicts of the action", conflicts)
}
