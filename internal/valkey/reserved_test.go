package valkey

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// onWithin is how soon something goes on when what held it is gone; heldWithin is how soon it is held.
const (
	onWithin   = 10 * time.Second
	heldWithin = 30 * time.Second
)

// held is something that a third kind, here a ConfigMap, keeps from going on.
type held struct {
	obj    subject
	holder *corev1.ConfigMap
	in     fsm.Phase
}

type subject interface {
	client.Object
	GetProgress() *meta.Progress
}

// TestHeldByAThirdKind puts clusters and upgrades into every phase that a reservation of another holds, and lets the
// holder vanish. Nothing changes the Lease then, so that only the wake of the hold itself can find out.
func TestHeldByAThirdKind(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	f := newFleet(t, b)
	namespace := bedtest.Namespace(t, b)
	var all []*held
	for _, phase := range heldIn(cluster.Machine.Holds, cluster.ReasonReservedByOther) {
		c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "in-" + strings.ToLower(string(phase))}}
		f.create(t, c)
		all = append(all, f.hold(t, c, c, phase))
	}
	for _, phase := range append(heldIn(upgrade.Machine.Holds, upgrade.ReasonReservedByOther), upgrade.Pending) {
		c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "of-" + strings.ToLower(string(phase))}}
		f.create(t, c)
		u := &valkeyv1.ValkeyUpgrade{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.Name},
			Spec:       valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: c.Name}},
		}
		f.create(t, u)
		all = append(all, f.hold(t, u, c, phase))
	}
	f.startManager(t, b, thisVersion(), namespace)
	f.goOn(t, all)
}

// TestHeldWhileItRuns is the same for a change of size, which a cluster that runs waits with.
func TestHeldWhileItRuns(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	f := newFleet(t, b)
	namespace := bedtest.Namespace(t, b)
	f.startManager(t, b, thisVersion(), namespace)
	f.grow(t, namespace, 1)
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "fleet-0"}}
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
		t.Fatal(err)
	}
	h := f.hold(t, c, c, "")
	if err := f.Patch(t.Context(), c, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"masters":4}}`))); err != nil {
		t.Fatal(err)
	}
	f.isWaitedFor(t, b, h, c)
	f.goOn(t, []*held{h})
}

// isWaitedFor: whoever waits for the edit of a held cluster, by kubectl, Flux, Argo CD or Helm, does not take it for done.
func (f *fleet) isWaitedFor(t *testing.T, b *bed.Bed, h *held, c *valkeyv1.ValkeyCluster) {
	t.Helper()
	harness.Eventually(t, heldWithin, poll, func() error {
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(c.Status.Conditions, fsm.Ready)
		if !h.named() || ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != string(cluster.ReasonReservedByOther) {
			return fmt.Errorf("in %s, waiting for %q: Ready is %+v", c.Status.Phase, c.Status.WaitingFor, ready)
		}
		// That the edit was seen is known, so that it is Ready itself that they wait for.
		if ready.ObservedGeneration != c.Generation || c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("generation %d, Ready of %d, status of %d", c.Generation, ready.ObservedGeneration, c.Status.ObservedGeneration)
		}
		return nil
	})
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := status.Compute(&unstructured.Unstructured{Object: fields}); err != nil || seen.Status != status.InProgressStatus {
		t.Errorf("kstatus sees %+v: %v", seen, err)
	}
	if out, err := b.Kubectl(t.Context(), "wait", "--for=condition=Ready", "--timeout=1s", "-n", c.Namespace, "valkeycluster/"+c.Name); err == nil {
		t.Errorf("kubectl wait takes it for done: %s", out)
	}
}

func heldIn[I any](holds []fsm.Hold[I], reason fsm.Reason) (phases []fsm.Phase) {
	for _, h := range holds {
		if h.Reason == reason {
			phases = append(phases, h.In...)
		}
	}
	return phases
}

func (f *fleet) create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := f.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// hold puts an object into a phase, and reserves its target for a ConfigMap.
func (f *fleet) hold(t *testing.T, obj subject, target *valkeyv1.ValkeyCluster, phase fsm.Phase) *held {
	t.Helper()
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: target.Namespace, Name: "holds-" + target.Name}}
	f.create(t, holder)
	who := reserve.RefOf(schema.GroupKind{Kind: "ConfigMap"}, holder)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: read.LeaseName(target.UID)}}
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	lease.Labels = map[string]string{"statecraft.dev/reservation": "true"}
	lease.Annotations = map[string]string{"statecraft.dev/target": reserve.RefOf(clusterKind, target).String()}
	lease.Spec.HolderIdentity = ptr.To(who.String())
	if lease.ResourceVersion == "" {
		f.create(t, lease)
	} else if err := f.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if phase != "" {
		fields := map[string]any{"phase": phase, "since": metav1.Now()}
		if phase == upgrade.RollingBack { // without a shard to bring back it ends
			fields["shards"] = []any{map[string]any{"index": 0, "phase": upgrade.ShardPending, "wantTemplate": "newer"}}
		}
		patch, err := json.Marshal(map[string]any{"status": fields})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Status().Patch(t.Context(), obj, client.RawPatch("application/merge-patch+json", patch)); err != nil {
			t.Fatal(err)
		}
	}
	return &held{obj: obj, holder: holder}
}

// named says that the status names the holder as what is awaited.
func (h *held) named() bool {
	p, title := h.obj.GetProgress(), "ConfigMap "+h.holder.Namespace+"/"+h.holder.Name
	return strings.Contains(p.WaitingFor, title) ||
		slices.ContainsFunc(p.Conditions, func(c metav1.Condition) bool { return strings.Contains(c.Message, title) })
}

// goOn waits until all are held, lets their holders vanish, and measures how soon each goes on.
func (f *fleet) goOn(t *testing.T, all []*held) {
	t.Helper()
	look := func(h *held, want bool) error {
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(h.obj), h.obj); err != nil {
			return err
		}
		if is := h.named(); is != want {
			return fmt.Errorf("%T %s in %s: held is %t, waits for %q, came by %+v", h.obj, h.obj.GetName(), h.obj.GetProgress().Phase, is, h.obj.GetProgress().WaitingFor, h.obj.GetProgress().History)
		}
		return nil
	}
	for _, h := range all {
		harness.Eventually(t, heldWithin, poll, func() error { return look(h, true) })
	}
	gone := map[*held]time.Time{}
	for _, h := range all {
		if err := f.Delete(t.Context(), h.holder); err != nil {
			t.Fatal(err)
		}
		gone[h], h.in = time.Now(), h.obj.GetProgress().Phase
	}
	harness.Eventually(t, within, poll, func() (waits error) {
		f.node.Beat(t.Context())
		for h, since := range gone {
			if err := look(h, false); err != nil {
				waits = err
				continue
			}
			delete(gone, h)
			took := time.Since(since).Round(100 * time.Millisecond)
			harness.Row(t, "%T held in %s by a ConfigMap goes on %s after that is gone", h.obj, h.in, took)
			if took > onWithin {
				t.Errorf("%T in %s went on after %s, want at most %s", h.obj, h.in, took, onWithin)
			}
		}
		return waits
	})
}
