// Package valkey has the stories of area valkey for the simulation: real pods that
// nobody runs, and servers of the fake behind their addresses.
package valkey

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

const area = "valkey"

var (
	clusterKind     = valkeyv1.GroupVersion.WithKind("ValkeyCluster")
	upgradeKind     = valkeyv1.GroupVersion.WithKind("ValkeyUpgrade")
	statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	podKind         = corev1.SchemeGroupVersion.WithKind("Pod")
	leaseKind       = coordinationv1.SchemeGroupVersion.WithKind("Lease") // reservations
	// What a cluster owns.
	childKinds = []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), statefulSetKind,
	}
)

// Subjects are the stories of area valkey.
func Subjects() []*sim.Subject {
	return []*sim.Subject{
		subject("cluster-forms", openForms), subject("cluster-scales", openScales), subject("cluster-upgrades", openUpgrades),
		subject("cluster-upgrade-goes-back", openGoesBack), subject("cluster-waits-its-turn", openWaitsItsTurn),
	}
}

func subject(name string, open func(*sim.World) *sim.Play) *sim.Subject {
	return &sim.Subject{
		Name: name, Area: area, AddToScheme: valkey.AddToScheme, Install: install,
		User:   harness.User(area),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + harness.SystemNamespace},
		Kinds:  append([]schema.GroupVersionKind{clusterKind, upgradeKind, podKind}, childKinds...),
		Own:    []schema.GroupVersionKind{clusterKind, upgradeKind, leaseKind},
		Open:   open,
	}
}

// story is a cluster that is made.
type story struct {
	world   *sim.World
	servers *fake.Cluster
	kubelet *kubelet
	cluster *valkeyv1.ValkeyCluster
	upgrade *valkeyv1.ValkeyUpgrade
	before  map[string]types.UID // pods, when the upgrade was made
	deaf    bool                 // holds of clusters are not looked at again: see Deaf

	mu      sync.Mutex
	stands  bool                      // the cluster was formed, and serves from now on
	failing map[wire.Target]time.Time // replicas that were asked to take over, and when
}

func newStory(w *sim.World) *story {
	s := &story{world: w, servers: fake.New(), failing: map[wire.Target]time.Time{}}
	s.cluster = &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "web"}}
	s.cluster.Spec.Image = image
	s.kubelet = &kubelet{world: w, servers: s.servers, running: map[string]string{}, gone: map[string]string{}}
	return s
}

// play is what all stories of a cluster have in common.
func (s *story) play() *sim.Play {
	return &sim.Play{
		Main:      sim.Ref{GroupVersionKind: clusterKind, Key: read.Key{Namespace: s.world.Namespace, Name: "web"}},
		Build:     s.build,
		Meanwhile: s.kubelet.meanwhile,
		Equal:     equal,
	}
}

// openForms is the story of a cluster that is made.
func openForms(w *sim.World) *sim.Play {
	s := newStory(w)
	play := s.play()
	play.Steps = []sim.Step{{
		Name:  "make a cluster",
		Do:    func(ctx context.Context) error { return w.Client.Create(ctx, s.cluster) },
		Until: s.runs,
	}}
	play.End = s.end
	return play
}

// runs says that the cluster does, and has given back what it had reserved.
func (s *story) runs() error {
	c := s.cluster.DeepCopy()
	if !s.world.Find(c) {
		return fmt.Errorf("the cluster is gone")
	}
	if c.Status.Phase != cluster.Running {
		return fmt.Errorf("the cluster is %q: %s; pods: %s", c.Status.Phase, c.Status.WaitingFor, s.kubelet)
	}
	return nil
}

// end: the status says that all is well, and the servers do, too.
func (s *story) end(found []*unstructured.Unstructured) error {
	c := s.cluster.DeepCopy()
	if err := s.runs(); err != nil {
		return err
	}
	s.world.Find(c)
	if !apimeta.IsStatusConditionTrue(c.Status.Conditions, fsm.Ready) || c.Status.ReadyNodes != "6/6" || c.Status.AssignedSlots != "16384/16384" {
		return fmt.Errorf("status %+v", c.Status)
	}
	return s.served(found, 6)
}

// equal leaves out what the cluster's own controllers write in their own time.
func equal(obj *unstructured.Unstructured) {
	// What names a child's content names the owner's UID, or the namespace, as well.
	for _, name := range []string{spec.AppliedAnnotation, spec.AppliedBeforeAnnotation, valkeyv1.TemplateAnnotation} {
		unstructured.RemoveNestedField(obj.Object, "metadata", "annotations", name)
	}
	unstructured.RemoveNestedField(obj.Object, "metadata", "labels", appsv1.ControllerRevisionHashLabelKey)
	switch obj.GetKind() {
	case "Pod":
		obj.Object["spec"], obj.Object["status"] = nil, nil
	case "StatefulSet", "PodDisruptionBudget":
		obj.Object["status"] = nil
	case "Service":
		for _, field := range []string{"clusterIP", "clusterIPs"} {
			unstructured.RemoveNestedField(obj.Object, "spec", field)
		}
	case leaseKind.Kind: // a leader that was deposed may take it once more, and the next gives it back
		unstructured.RemoveNestedField(obj.Object, "spec", "leaseTransitions")
		holder, _, _ := unstructured.NestedString(obj.Object, "spec", "holderIdentity")
		_ = unstructured.SetNestedField(obj.Object, ownUpgrade.ReplaceAllString(holder, "web-TEMPLATE"), "spec", "holderIdentity")
	case upgradeKind.Kind:
		equalUpgrade(obj)
	case clusterKind.Kind: // which shard was made first is chance
		shards, _, _ := unstructured.NestedSlice(obj.Object, "status", "shards")
		for _, shard := range shards {
			unstructured.RemoveNestedField(shard.(map[string]any), "id")
		}
		_ = unstructured.SetNestedSlice(obj.Object, shards, "status", "shards")
	}
}
