package valkey

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	rolloutClusters = 20
	rolloutWithin   = 10 * time.Minute
	rolloutLooks    = 20 * time.Millisecond
	// rolloutSpeed is how much faster the clock of the manager goes: an upgrade lets clients learn for seconds.
	rolloutSpeed = 5
)

// TestAnotherOperatorRestartsClustersInTurn: another version of the operator makes other pods of the same spec. It restarts so many
// clusters at a time as it may, none of them out of its window, and in the end all.
func TestAnotherOperatorRestartsClustersInTurn(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	namespace := bedtest.Namespace(t, b)
	f := newFleet(t, b)
	f.speed = rolloutSpeed
	stop := f.startManager(t, b, version(5, 1), namespace)
	f.grow(t, namespace, rolloutClusters)
	var open, closed []string
	for i := range rolloutClusters {
		if name := fmt.Sprintf("fleet-%d", i); i < harness.ByLevel(14, 5) {
			f.setWindow(t, namespace, name, 6*time.Hour)
			closed = append(closed, name)
		} else {
			open = append(open, name)
		}
	}
	stop()

	const most = 3
	restarts := f.watchRestarts(t, b, namespace)
	pods := f.podUIDs(t, namespace)
	stop = f.startManager(t, b, version(6, most), namespace)
	f.rollOut(t, namespace, restarts, open)
	for name, uid := range f.podUIDs(t, namespace) {
		if of := pods[name]; slices.Contains(closed, of.cluster) != (of.uid == uid.uid) {
			t.Errorf("pod %s of %s was replaced: %t", name, of.cluster, of.uid != uid.uid)
		}
	}
	for _, name := range closed {
		f.awaits(t, namespace, name, string(cluster.ReasonOutsideWindow))
	}
	opened := closed[:harness.ByLevel(1, len(closed))]
	for _, name := range opened {
		f.setWindow(t, namespace, name, -time.Hour)
	}
	f.rollOut(t, namespace, restarts, append(open, opened...))
	stop()
	if at := restarts.most(); at != most {
		t.Errorf("%d clusters were restarted at a time, %d may be", at, most)
	}

	restarts = f.watchRestarts(t, b, namespace)
	f.startManager(t, b, version(7, 1), namespace)
	f.untilEnded(t, namespace, restarts, harness.ByLevel(1, len(open)))
	if at := restarts.most(); at != 1 {
		t.Errorf("%d clusters were restarted at a time, one may be", at)
	}
}

// version is one of the operator, which lets the kubelet look at servers every so many seconds.
func version(probe int32, restarts int) Options {
	return Options{Restarts: restarts, Build: spec.Builder{NodeImage: "node", Other: func(pod *corev1.PodTemplateSpec) {
		pod.Spec.Containers[0].ReadinessProbe.PeriodSeconds = probe
	}}}
}

// restarts are the clusters that are being restarted: of every change of an upgrade, one after the other.
type restarts struct {
	mu    sync.Mutex
	now   map[string]bool // upgrades that have not ended
	ended map[string]bool
	at    int // the most at a time
}

func (r *restarts) note(e watch.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, is := e.Object.(*valkeyv1.ValkeyUpgrade)
	if !is {
		return
	}
	delete(r.now, u.Name)
	switch ended := upgrade.Ended(u.Status.Phase); {
	case e.Type == watch.Deleted: // it was of an earlier version
	case ended:
		r.ended[u.Name] = true
	default:
		r.now[u.Name] = true
	}
	r.at = max(r.at, len(r.now))
}

func (r *restarts) most() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

func (r *restarts) underWay() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.now))
}

func (r *restarts) done() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ended)
}

// watchRestarts begins after what has ended before.
func (f *fleet) watchRestarts(t *testing.T, b *bed.Bed, namespace string) *restarts {
	t.Helper()
	c, err := client.NewWithWatch(b.Config(), client.Options{Scheme: f.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	var list valkeyv1.ValkeyUpgradeList
	if err := c.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	changes, err := c.Watch(t.Context(), &valkeyv1.ValkeyUpgradeList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(changes.Stop)
	r := &restarts{now: map[string]bool{}, ended: map[string]bool{}}
	go func() {
		for e := range changes.ResultChan() {
			r.note(e)
		}
	}()
	return r
}

// rollOut runs pods until all of these clusters run with what the manager makes of their specs.
func (f *fleet) rollOut(t *testing.T, namespace string, r *restarts, names []string) {
	t.Helper()
	began := time.Now()
	harness.Eventually(t, rolloutWithin, rolloutLooks, func() error {
		f.turn(t.Context(), namespace, r)
		var list valkeyv1.ValkeyClusterList
		if err := f.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range list.Items {
			c := &list.Items[i]
			if slices.Contains(names, c.Name) && (!apimeta.IsStatusConditionFalse(c.Status.Conditions, valkeyv1.RestartPending) || c.Status.CurrentOperation != "") {
				return fmt.Errorf("%s: %s %v", c.Name, c.Status.CurrentOperation, c.Status.Conditions)
			}
		}
		return nil
	})
	harness.Row(t, "%d clusters run with another version after %s", len(names), time.Since(began).Round(time.Second))
}

func (f *fleet) untilEnded(t *testing.T, namespace string, r *restarts, n int) {
	t.Helper()
	harness.Eventually(t, rolloutWithin, rolloutLooks, func() error {
		f.turn(t.Context(), namespace, r)
		if done := r.done(); done < n {
			return fmt.Errorf("%d of %d were restarted", done, n)
		}
		return nil
	})
}

// turn plays nodes and servers, and wakes upgrades: their clock goes faster than their timers.
func (f *fleet) turn(ctx context.Context, namespace string, r *restarts) {
	f.node.Beat(ctx)
	_ = f.runPods(ctx, namespace) // once more in a moment
	for _, name := range r.underWay() {
		f.of(name[:strings.LastIndex(name, "-")]).Settle()
		u := &valkeyv1.ValkeyUpgrade{}
		u.Namespace, u.Name = namespace, name
		wake := fmt.Appendf(nil, `{"metadata": {"annotations": {"woken": %q}}}`, time.Now())
		_ = f.Patch(ctx, u, client.RawPatch("application/merge-patch+json", wake))
	}
}

// setWindow lets the window of a cluster open after a time.
func (f *fleet) setWindow(t *testing.T, namespace, name string, after time.Duration) {
	t.Helper()
	c := &valkeyv1.ValkeyCluster{}
	c.Namespace, c.Name = namespace, name
	patch := fmt.Appendf(nil, `{"spec": {"maintenance": {"windows": [{"start": %q, "duration": "5h"}]}}}`, time.Now().Add(after).UTC().Format("15:04"))
	if err := f.Patch(t.Context(), c, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
}

// awaits: the restart of a cluster waits for a reason, and the spec counts as reached.
func (f *fleet) awaits(t *testing.T, namespace, name, reason string) {
	t.Helper()
	var c valkeyv1.ValkeyCluster
	if err := f.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &c); err != nil {
		t.Fatal(err)
	}
	is := apimeta.FindStatusCondition(c.Status.Conditions, valkeyv1.RestartPending)
	if is == nil || is.Reason != reason || !apimeta.IsStatusConditionTrue(c.Status.Conditions, "Ready") {
		t.Errorf("%s: %v", name, c.Status.Conditions)
	}
}

// podOf is a pod by its UID, and the cluster that it is of.
type podOf struct{ cluster, uid string }

func (f *fleet) podUIDs(t *testing.T, namespace string) map[string]podOf {
	t.Helper()
	var pods corev1.PodList
	if err := f.List(t.Context(), &pods, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	uids := map[string]podOf{}
	for i := range pods.Items {
		uids[pods.Items[i].Name] = podOf{pods.Items[i].Labels[valkeyv1.ClusterLabel], string(pods.Items[i].UID)}
	}
	return uids
}
