package act

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const cluster = "0d6f3a11"

var (
	noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	pump = fleet.Device{Name: "pump", Labels: map[string]string{"site": "north"}, Status: fleet.Status{Summary: fleet.Word{Status: fleet.Online}}}
)

// keeper keeps the Node of one device against an API server.
type keeper struct {
	*testing.T
	client.Client
	nodes Nodes
	wish  node.Wish
	now   time.Time
}

func newKeeper(t *testing.T, there ...client.Object) *keeper {
	t.Helper()
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithStatusSubresource(&corev1.Node{}).WithObjects(there...).
		WithInterceptorFuncs(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			obj.SetUID(types.UID("uid-" + obj.GetName())) // which the fake does not do
			return c.Create(ctx, obj, opts...)
		}}).Build()
	id := node.ID{Cluster: cluster, Pool: "pumps", Device: pump.Name}
	row := device.Of(cluster, device.Seen{Sight: presence.Here, Device: pump})
	return &keeper{
		T: t, Client: c, nodes: Nodes{kube.Env{Client: c, Live: c}.Writer("edge")}, now: noon,
		wish: node.Wish{ID: id, Node: node.Build(node.Pool{Name: "pumps"}, node.Device{Device: pump, Row: row}, id)},
	}
}

// step looks and writes, and says how many writes there were.
func (k *keeper) step() (writes int, err error) {
	k.Helper()
	var found node.Found
	var n corev1.Node
	if err := k.Get(k.Context(), client.ObjectKey{Name: "edge-pump"}, &n); err == nil {
		found.Node = &n
	} else if !apierrors.IsNotFound(err) {
		k.Fatal(err)
	}
	var l coordinationv1.Lease
	if err := k.Get(k.Context(), client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: "edge-pump"}, &l); err == nil {
		found.Lease = &l
	}
	found.Pods = node.BoundPods{Listed: true}
	for _, w := range node.Step(k.wish, found, k.now).Writes {
		writes++
		if err := k.nodes.Write(k.Context(), w); err != nil {
			return writes, err
		}
	}
	return writes, nil
}

// rests steps until nothing is written.
func (k *keeper) rests() {
	k.Helper()
	for range 10 {
		if writes, err := k.step(); err != nil {
			k.Fatal(err)
		} else if writes == 0 {
			return
		}
	}
	k.Fatal("it never rests")
}

func (k *keeper) node() (n corev1.Node, is bool) {
	k.Helper()
	err := k.Get(k.Context(), client.ObjectKey{Name: "edge-pump"}, &n)
	return n, client.IgnoreNotFound(err) == nil && err == nil
}

func TestANodeIsKept(t *testing.T) {
	k := newKeeper(t)
	k.rests()
	n, is := k.node()
	if !is || n.Spec.ProviderID != k.wish.ID.String() || len(n.OwnerReferences) > 0 {
		t.Fatalf("%+v", n)
	}
	var lease coordinationv1.Lease
	if err := k.Get(t.Context(), client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: n.Name}, &lease); err != nil || !lease.Spec.RenewTime.Time.Equal(noon) {
		t.Errorf("%+v, %v", lease.Spec, err)
	}
	n.Spec.Taints, n.Labels["theirs"] = nil, "1" // a person takes our taint away, and puts a label there
	if err := k.Update(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	k.now = noon.Add(time.Minute)
	k.rests()
	if n, _ = k.node(); len(n.Spec.Taints) != 1 || n.Labels["theirs"] != "1" {
		t.Errorf("%+v", n)
	}
	if err := k.Get(t.Context(), client.ObjectKeyFromObject(&lease), &lease); err != nil || !lease.Spec.RenewTime.Time.Equal(k.now) {
		t.Errorf("%+v, %v", lease.Spec, err)
	}
	k.wish.Leaves = true
	k.rests()
	k.now = k.now.Add(time.Minute)
	k.rests()
	if _, is := k.node(); is {
		t.Error("it stays")
	}
}

// Between the look and the write a stranger's Node may have come.
func TestANodeOfAStrangerIsLeftAlone(t *testing.T) {
	theirs := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "edge-pump"}, Spec: corev1.NodeSpec{ProviderID: "cloud://1"}}
	k := newKeeper(t, theirs)
	err := k.nodes.Write(t.Context(), node.CreateNode{Node: k.wish.Node})
	if fsm.ClassOf(err) == "" || err == nil {
		t.Errorf("it is taken over: %v", err)
	}
	k.rests()
	if n, _ := k.node(); n.Spec.ProviderID != "cloud://1" || len(n.Labels) > 0 || len(n.Spec.Taints) > 0 {
		t.Errorf("it is written: %+v", n)
	}
}

// The Node whose pods were listed goes, and no other of its name.
func TestANodeThatWasNotSeenStays(t *testing.T) {
	k := newKeeper(t)
	k.rests()
	if err := k.nodes.Write(t.Context(), node.DeleteNode{Name: "edge-pump"}); fsm.ClassOf(err) != fsm.Refused {
		t.Errorf("one that was not seen: %v", err)
	}
	if _, is := k.node(); !is {
		t.Error("it is deleted")
	}
}
