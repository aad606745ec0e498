package keeper

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/keepers"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	crowdNamespaces = 10
	crowdEach       = 100
	settledWithin   = 30 * time.Second // of the last start, election of a new leader included
	perKill         = 20               // keepers that go before the next kill
)

var (
	kills     = harness.ByLevel(5, 10)
	rest      = harness.ByLevel(20*time.Second, 60*time.Second)
	deleteAll = harness.ByLevel(30*time.Second, 60*time.Second) // takes the user so long to delete what is to go
)

// crowd is a thousand keepers, each following one ConfigMap and owning another.
type crowd struct {
	t         *testing.T
	c         client.Client
	namespace []string
	artifacts string
	followed  map[string]*corev1.ConfigMap // by the name of the keeper
}

// TestAThousandKeepersUnderKills deletes half of what is followed, two whole
// namespaces among it, while the manager is killed again and again: exactly the
// right keepers and artifacts go, and then nothing is written any more.
func TestAThousandKeepersUnderKills(t *testing.T) {
	b := bedtest.ControlPlane(t)
	m := product.NewManager(t, b, area)
	m.Start()
	w := newCrowd(t, b)
	stay := map[string]bool{}
	for name := range w.followed {
		stay[name] = true
	}

	deleted := make(chan error, 1)
	go func() { deleted <- w.deleteHalf(stay) }()
	for range kills {
		w.atWork()
		m.Kill()
		m.Start()
	}
	started := time.Now()
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	harness.Within(t, settledWithin-time.Since(started), time.Second, func() error { return w.are(stay) })
	t.Logf("right %s after the last start: %d keepers and artifacts stay", time.Since(started).Round(100*time.Millisecond), len(stay))

	since := time.Now()
	harness.Consistently(t, rest, 5*time.Second, func() error { return w.are(stay) })
	writes, err := b.Writes(since, harness.User(area))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{}, bed.CountWrites(bed.WithoutElections(writes))); diff != "" {
		t.Errorf("writes at rest in %s: %s", rest, diff)
	}
}

// atWork waits until the manager has let some more keepers go.
func (w *crowd) atWork() {
	w.t.Helper()
	before, err := names(w.t.Context(), w.c, "ObjectKeeper", "")
	if err != nil {
		w.t.Fatal(err)
	}
	harness.Eventually(w.t, soon, poll, func() error {
		now, err := names(w.t.Context(), w.c, "ObjectKeeper", "")
		if err == nil && len(now) > len(before)-perKill {
			err = fmt.Errorf("%d keepers, of %d before", len(now), len(before))
		}
		return err
	})
}

func newCrowd(t *testing.T, b *bed.Bed) *crowd {
	t.Helper()
	w := &crowd{t: t, c: newClient(t, b), artifacts: bedtest.Namespace(t, b), followed: map[string]*corev1.ConfigMap{}}
	followable(t, w.c)
	keepers.AwaitCollection(t, w.c, w.artifacts)
	for i := range crowdNamespaces {
		ns := fmt.Sprintf("%s-%d", w.artifacts, i)
		create(t, w.c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		w.namespace = append(w.namespace, ns)
		for j := range crowdEach {
			w.followed[fmt.Sprintf("%s-%d", ns, j)] = configMap(ns, fmt.Sprintf("followed-%d", j))
		}
	}
	if err := w.each(w.join); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, timeout.Wait, time.Second, w.tracking)
	return w
}

// each does something for all keepers, some at a time.
func (w *crowd) each(do func(name string, followed *corev1.ConfigMap) error) error {
	var g errgroup.Group
	g.SetLimit(16)
	for name, cm := range w.followed {
		g.Go(func() error { return do(name, cm) })
	}
	return g.Wait()
}

func (w *crowd) join(name string, followed *corev1.ConfigMap) error {
	if err := w.c.Create(w.t.Context(), followed); err != nil {
		return err
	}
	k := keepers.Following(followed, name)
	if err := w.c.Create(w.t.Context(), k); err != nil {
		return err
	}
	return w.c.Create(w.t.Context(), keepers.Artifact(k, w.artifacts))
}

func (w *crowd) tracking() error {
	var keepers capturev1.ObjectKeeperList
	if err := w.c.List(w.t.Context(), &keepers); err != nil {
		return err
	}
	n := 0
	for i := range keepers.Items {
		if _, ours := w.followed[keepers.Items[i].Name]; ours && keepers.Items[i].Status.Phase == keeper.Tracking {
			n++
		}
	}
	if n != len(w.followed) {
		return fmt.Errorf("%d of %d are Tracking", n, len(w.followed))
	}
	return nil
}

// deleteHalf deletes two namespaces and half of the ConfigMaps of the others, and
// makes every tenth anew under its old name. It strikes out of stay what must go.
func (w *crowd) deleteHalf(stay map[string]bool) error {
	lost := w.namespace[:2]
	for _, ns := range lost {
		if err := w.c.Delete(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(deleteAll / (crowdNamespaces * crowdEach / 2))
	defer ticker.Stop()
	for i, name := range slices.Sorted(maps.Keys(w.followed)) {
		cm := w.followed[name]
		if slices.Contains(lost, cm.Namespace) {
			delete(stay, name)
			continue
		}
		if i%2 == 1 {
			continue
		}
		<-ticker.C
		delete(stay, name)
		if err := w.c.Delete(w.t.Context(), cm); err != nil {
			return err
		}
		if i%10 == 0 {
			if err := w.c.Create(w.t.Context(), configMap(cm.Namespace, cm.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// are says nil when exactly these keepers and artifacts are there.
func (w *crowd) are(want map[string]bool) error {
	keepers, err := names(w.t.Context(), w.c, "ObjectKeeper", "")
	if err != nil {
		return err
	}
	artifacts, err := names(w.t.Context(), w.c, "ConfigMap", w.artifacts)
	if err != nil {
		return err
	}
	for _, there := range []map[string]bool{keepers, artifacts} {
		maps.DeleteFunc(there, func(name string, _ bool) bool { return w.followed[name] == nil })
	}
	if !maps.Equal(keepers, want) || !maps.Equal(artifacts, want) {
		return fmt.Errorf("%d keepers and %d artifacts, want %d of each, or others", len(keepers), len(artifacts), len(want))
	}
	return nil
}
