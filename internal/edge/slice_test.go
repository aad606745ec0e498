package edge

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleetfake"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

const (
	cluster = entry.Cluster("0a1b2c3d")
	uid     = types.UID("6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f")
	hold    = "test.statecraft.dev/hold" // keeps a pod that is deleted, as its grace period does
)

// listed is the fake with what only a pool asks.
type listed struct{ *fleetfake.Server }

func (l listed) List(ctx context.Context, _, _ string) (page fleet.Page, err error) {
	if l.Down {
		return page, fleet.ErrUnreachable
	}
	for name := range l.Devices {
		d, err := l.Get(ctx, name)
		if err != nil {
			return page, err
		}
		page.Devices = append(page.Devices, d)
	}
	slices.SortFunc(page.Devices, func(a, b fleet.Device) int { return strings.Compare(a.Name, b.Name) })
	return page, nil
}

func (l listed) LastSeen(context.Context, string) (time.Time, bool, error) {
	return time.Time{}, false, nil
}

// bench drives the controllers of the area step by step, with the fakes of both sides.
type bench struct {
	*testing.T
	client.Client
	server   *fleetfake.Server
	parts    *Parts
	pools    *kube.Reconciler[*edgev1.EdgePool, pool.World]
	pods     *kube.Reconciler[*pod.Pod, pod.World]
	now      time.Time
	released []string // pods whose objects were removed by force
	woken    int      // pods that a sweep has woken
	made     int      // objects that were made
}

func newBench(t *testing.T, there ...client.Object) *bench {
	t.Helper()
	b := &bench{T: t, server: fleetfake.New("pump"), now: time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, edgev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	north := &edgev1.EdgePool{ObjectMeta: metav1.ObjectMeta{Name: "north", UID: "p1", Generation: 1}, Spec: edgev1.EdgePoolSpec{
		Server:  edgev1.FlightControl{URL: "https://flightctl.example.com", CredentialsSecret: "north"},
		Devices: edgev1.DeviceSelection{MatchLabels: map[string]edgev1.LabelValue{"site": "north"}}, PlaceTimeout: metav1.Duration{Duration: 5 * time.Minute},
	}}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&edgev1.EdgePool{}, &corev1.Node{}).WithObjects(append(there, north)...)
	for _, i := range append(Indexes(), kube.Index{Of: &corev1.Pod{}, Name: "spec.nodeName", Values: func(obj client.Object) []string { return []string{obj.(*corev1.Pod).Spec.NodeName} }}) {
		builder = builder.WithIndex(i.Of, i.Name, i.Values)
	}
	b.Client = builder.WithInterceptorFuncs(interceptor.Funcs{Create: b.create, Delete: b.delete, SubResourcePatch: b.patchStatus}).Build()
	e := kube.Env{Client: b.Client, Live: b.Client, Now: func() time.Time { return b.now }, Namespace: "statecraft-system"}
	connector := func(context.Context, *edgev1.EdgePool) (FlightControl, error) { return listed{b.server}, nil }
	b.parts = NewParts(e, cluster, connector, func(read.Key) {}, func(read.Key) { b.woken++ })
	b.pools, b.pods = NewPool(e, b.parts), NewPod(e, b.parts)
	return b
}

func (b *bench) create(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
	if obj.GetUID() == "" {
		b.made++ // the fake gives none
		obj.SetUID(types.UID(obj.GetName() + "-" + strconv.Itoa(b.made)))
	}
	return c.Create(ctx, obj, opts...)
}

// delete notes what is removed by force, and lets go of it.
func (b *bench) delete(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
	with := (&client.DeleteOptions{}).ApplyOptions(opts)
	if _, is := obj.(*corev1.Pod); is && with.GracePeriodSeconds != nil && *with.GracePeriodSeconds == 0 {
		b.released = append(b.released, obj.GetName())
		if with.Preconditions == nil || with.Preconditions.UID == nil || *with.Preconditions.UID != uid {
			b.Errorf("released without the UID of the pod: %+v", with.Preconditions)
		}
		there := &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), there); err != nil {
			return err
		}
		there.Finalizers = nil
		return c.Update(ctx, there)
	}
	return c.Delete(ctx, obj, opts...)
}

// patchStatus writes the annotations of a pod with its status, as a real API server does.
//
//nolint:revive // the signature is the fake client's
func (b *bench) patchStatus(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if _, is := obj.(*corev1.Pod); !is {
		return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
	}
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	meta := obj.DeepCopyObject().(client.Object)
	if err := c.Patch(ctx, meta, client.RawPatch(types.MergePatchType, data)); err != nil {
		return err
	}
	var status struct {
		Status json.RawMessage `json:"status,omitempty"`
	}
	if err := json.Unmarshal(data, &status); err != nil {
		return err
	}
	if data, err = json.Marshal(status); err != nil {
		return err
	}
	return c.SubResource(sub).Patch(ctx, obj, client.RawPatch(types.MergePatchType, data), opts...)
}

// turn lets each side do one thing, and time pass.
func (b *bench) turn() {
	b.Helper()
	b.look()
	for _, d := range b.server.Devices {
		d.Render(0)
		d.Apply()
		d.Report()
	}
}

// look lets the controllers look once.
func (b *bench) look() {
	b.Helper()
	_, err := b.pools.Pass(b.Context(), read.Key{Name: "north"})
	b.must(err)
	b.parts.Sweeps.Drive(b.Context())
	b.must(b.parts.Keeper.Keep(b.Context()))
	var list corev1.PodList
	b.must(b.List(b.Context(), &list))
	for _, p := range list.Items {
		_, err := b.pods.Pass(b.Context(), client.ObjectKeyFromObject(&p))
		b.must(err)
	}
	b.now = b.now.Add(2 * time.Second)
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) turns(n int) {
	b.Helper()
	for range n {
		b.turn()
	}
}

func (b *bench) node() *corev1.Node {
	b.Helper()
	n := &corev1.Node{}
	if err := b.Get(b.Context(), client.ObjectKey{Name: "edge-pump"}, n); err != nil {
		if !apierrors.IsNotFound(err) {
			b.Fatal(err)
		}
		return nil
	}
	return n
}

func (b *bench) web() *corev1.Pod {
	b.Helper()
	p := &corev1.Pod{}
	b.must(b.Get(b.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, p))
	return p
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

func (b *bench) phase() string {
	var progress struct {
		Phase string `json:"phase"`
	}
	if text := b.web().Annotations[Progress]; text != "" {
		b.must(json.Unmarshal([]byte(text), &progress))
	}
	return progress.Phase
}

func bound() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: uid, Finalizers: []string{hold}},
		Spec: corev1.PodSpec{
			NodeName: "edge-pump", RestartPolicy: corev1.RestartPolicyAlways,
			Containers: []corev1.Container{{Name: "web", Image: "localhost/web:1", ImagePullPolicy: corev1.PullIfNotPresent}},
		},
	}
}

func (b *bench) runs() bool { return b.server.Devices["pump"].Agent.Running[cluster.Of(uid)] != "" }

func TestAPodComesAndGoes(t *testing.T) {
	b := newBench(t)
	b.turns(4)
	if b.node() == nil {
		t.Fatal("the device has no Node")
	}
	b.must(b.Create(t.Context(), bound()))
	for range 4 { // the agent does nothing yet
		if b.look(); ready(b.web()) {
			t.Fatal("it is Ready, and the device has applied nothing")
		}
	}
	if !b.server.Devices["pump"].MayStart(cluster.Of(uid)) {
		t.Fatalf("it was not sent: it is %s", b.phase())
	}
	if b.turns(4); !ready(b.web()) || !b.runs() {
		t.Fatalf("it is not Ready: it is %s, %+v", b.phase(), b.web().Status)
	}
	if b.woken == 0 {
		t.Error("no sweep has woken the pod")
	}

	b.must(b.Delete(t.Context(), b.web()))
	for range 4 {
		if b.look(); len(b.released) > 0 {
			t.Fatal("its object was removed, and the device runs it")
		}
	}
	if b.turns(4); len(b.released) != 1 || b.runs() {
		t.Fatalf("released %v, runs %t: %s", b.released, b.runs(), b.web().Annotations[Progress])
	}
	d, err := b.server.Get(t.Context(), "pump")
	if b.must(err); len(d.Applications)+len(d.Config) > 0 {
		t.Errorf("the device keeps %v and %v", d.Applications, d.Config)
	}
}

// That Flight Control does not answer changes no Node and deletes nothing; Leases are renewed meanwhile.
func TestFlightControlIsAway(t *testing.T) {
	b := newBench(t)
	b.turns(4)
	b.must(b.Create(t.Context(), bound()))
	b.turns(6)
	was, running := b.node(), ready(b.web())
	b.server.Down = true
	for range 60 {
		b.look()
	}
	if is := b.node(); is == nil || is.ResourceVersion != was.ResourceVersion {
		t.Errorf("the Node was written: %+v", is)
	}
	if !running || !ready(b.web()) || len(b.released) > 0 {
		t.Errorf("the pod was Ready %t, and is %t; released %v", running, ready(b.web()), b.released)
	}
	lease := &coordinationv1.Lease{}
	b.must(b.Get(t.Context(), client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: "edge-pump"}, lease))
	if age := b.now.Sub(lease.Spec.RenewTime.Time); age > 25*time.Second {
		t.Errorf("the Lease is %s old", age)
	}
	p := &edgev1.EdgePool{}
	b.must(b.Get(t.Context(), client.ObjectKey{Name: "north"}, p))
	if p.Status.Phase != pool.Blind {
		t.Errorf("the pool is %s", p.Status.Phase)
	}
	b.server.Down = false
	for range 20 {
		b.turn()
	}
	if b.must(b.Get(t.Context(), client.ObjectKey{Name: "north"}, p)); p.Status.Phase != pool.Serving || !ready(b.web()) {
		t.Errorf("afterwards the pool is %s, and the pod is Ready: %t", p.Status.Phase, ready(b.web()))
	}
}

// Without its Node the cluster would remove pods by force: it goes after the last one, and the pool after the Node.
func TestAPoolIsDrained(t *testing.T) {
	b := newBench(t)
	b.turns(4)
	b.must(b.Create(t.Context(), bound()))
	b.turns(6)
	p := &edgev1.EdgePool{ObjectMeta: metav1.ObjectMeta{Name: "north"}}
	b.must(b.Delete(t.Context(), p))
	b.turns(40)
	if n := b.node(); n == nil || !n.Spec.Unschedulable || !b.runs() {
		t.Fatalf("while a pod is bound to it, the Node is %+v", n)
	}
	b.must(b.Delete(t.Context(), b.web()))
	for range 60 {
		b.turn()
	}
	if b.node() != nil || len(b.released) != 1 {
		t.Errorf("a Node is left: %t; released %v", b.node() != nil, b.released)
	}
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(p), p); !apierrors.IsNotFound(err) {
		t.Errorf("the pool is left: %+v, %v", p.Status, err)
	}
}

// After forty seconds without its Node the cluster would remove a pod by force, so the Node is back at once, with a Lease of its own.
func TestANodeThatWasDeletedByHand(t *testing.T) {
	b := newBench(t)
	b.turns(4)
	was := b.node()
	b.must(b.Delete(t.Context(), was))
	b.turns(2)
	if is := b.node(); is == nil || is.UID == was.UID {
		t.Fatalf("it is not back: %+v", is)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: "edge-pump"}}
	b.must(b.Delete(t.Context(), lease)) // as garbage collection does: it belongs to the old one
	b.turns(2)
	b.must(b.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	if len(lease.OwnerReferences) != 1 || lease.OwnerReferences[0].UID != b.node().UID {
		t.Errorf("its Lease belongs to %+v", lease.OwnerReferences)
	}
}

// A Node that is not ours is not written, and pods on it are none of ours.
func TestANodeOfOthers(t *testing.T) {
	b := newBench(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "edge-pump", UID: "n1"}, Spec: corev1.NodeSpec{ProviderID: "cloud://1"}})
	was := b.node()
	b.must(b.Create(t.Context(), bound()))
	b.turns(6)
	if b.node().ResourceVersion != was.ResourceVersion || b.web().Annotations[Progress] != "" || b.server.Edits > 0 {
		t.Error("the Node, its pod or the device was written")
	}
	p := &edgev1.EdgePool{}
	b.must(b.Get(t.Context(), client.ObjectKey{Name: "north"}, p))
	if len(p.Status.Problems) != 1 || p.Status.Problems[0].Reason != "NameTaken" {
		t.Errorf("the pool says %+v", p.Status.Problems)
	}
}

// What no pod has goes after two looks and a sweep; what a pod has stays.
func TestAnOrphanGoes(t *testing.T) {
	b := newBench(t)
	b.turns(4)
	b.must(b.Create(t.Context(), bound()))
	b.turns(6)
	orphan := cluster.Of("00000000-0000-0000-0000-000000000000")
	raw := json.RawMessage(`{"name":"` + orphan + `"}`)
	b.must(b.server.Edit(t.Context(), "pump", func(fleet.Device) (fleet.Edit, error) {
		return fleet.Edit{Applications: map[string]json.RawMessage{orphan: raw}}, nil
	}))
	for range 10 { // 20 s
		b.turn()
	}
	has := func(name string) bool {
		d, err := b.server.Get(t.Context(), "pump")
		b.must(err)
		return fleet.Has(d.Applications, name)
	}
	if !has(orphan) {
		t.Error("it went at once")
	}
	for range 60 {
		b.turn()
	}
	if has(orphan) || !has(cluster.Of(uid)) {
		t.Errorf("the orphan is there: %t; the application of the pod: %t", has(orphan), has(cluster.Of(uid)))
	}
}
