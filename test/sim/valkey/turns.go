package valkey

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// openWaitsItsTurn is the story of a cluster that an object of a third kind keeps from being made, until that is
// deleted. Nothing changes the Lease then: the cluster must look again by itself.
func openWaitsItsTurn(w *sim.World) *sim.Play { return newStory(w).waitsItsTurn() }

// Deaf is the same story with a controller whose hold does not look again by itself. It must not end well.
func Deaf() *sim.Subject {
	return subject("deaf-cluster", func(w *sim.World) *sim.Play {
		s := newStory(w)
		s.deaf = true
		return s.waitsItsTurn()
	})
}

// deafened is the machine of clusters without the wake of reservations.
func deafened() *fsm.Machine[*valkeyv1.ValkeyCluster, cluster.World] {
	m := cluster.Machine
	m.Wakes = slices.Clone(m.Wakes)
	for i := range m.Wakes {
		if m.Wakes[i].Name == reserve.Wake.Name {
			m.Wakes[i] = fsm.Wake{Name: reserve.Wake.Name, By: fsm.ByWatch}
		}
	}
	return &m
}

func (s *story) waitsItsTurn() *sim.Play {
	s.cluster.Spec.ReplicasPerMaster = new(int32(0))
	play := s.play()
	play.Steps = []sim.Step{
		{Name: "make a cluster that is reserved", Do: s.makeReserved, Until: func() error { return s.waitsFor(true) }},
		{Name: "delete the holder", Do: s.deleteHolder, Until: func() error { return s.waitsFor(false) }, Within: 10 * time.Second},
		{Name: "let it be made", Do: func(context.Context) error { return nil }, Until: s.runs, Calm: true},
	}
	play.End = func(found []*unstructured.Unstructured) error { return s.served(found, 3) }
	return play
}

func (s *story) holder() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "holder"}}
}

// makeReserved makes a cluster, and a Lease by which a ConfigMap holds it.
func (s *story) makeReserved(ctx context.Context) error {
	holder := s.holder()
	if err := s.world.Client.Create(ctx, holder); err != nil {
		return err
	}
	if err := s.world.Client.Create(ctx, s.cluster); err != nil {
		return err
	}
	return s.world.Client.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: harness.SystemNamespace, Name: read.LeaseName(s.cluster.UID),
			Labels:      map[string]string{"statecraft.dev/reservation": "true"},
			Annotations: map[string]string{"statecraft.dev/target": reserve.RefOf(clusterKind.GroupKind(), s.cluster).String()},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(reserve.RefOf(schema.GroupKind{Kind: "ConfigMap"}, holder).String())},
	})
}

func (s *story) deleteHolder(ctx context.Context) error {
	return s.world.Client.Delete(ctx, s.holder())
}

// waitsFor says nil if the cluster waits for the holder, or does no longer.
func (s *story) waitsFor(holder bool) error {
	c := s.cluster.DeepCopy()
	if !s.world.Find(c) {
		return fmt.Errorf("the cluster is gone")
	}
	if waits := strings.Contains(c.Status.WaitingFor, "ConfigMap "); waits != holder || c.Status.Phase == "" {
		return fmt.Errorf("the cluster is %q and waits for %q", c.Status.Phase, c.Status.WaitingFor)
	}
	return nil
}
