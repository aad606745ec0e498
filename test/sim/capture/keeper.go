// Package capture has the stories of area capture for the simulation.
package capture

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

const area = "capture"

var (
	keeperKind    = capturev1.GroupVersion.WithKind("ObjectKeeper")
	configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// Subjects are the stories of area capture.
func Subjects() []*sim.Subject {
	hour := &metav1.Duration{Duration: time.Hour}
	return append(slices.Concat(volumeCaptures(), volumeRestores(), manifestRestores(), manifestCaptures()),
		subject("keeper-follows", tale{mode: capturev1.FollowObject, lost: true}),
		subject("keeper-outlives", tale{mode: capturev1.FollowObjectWithTTL, ttl: hour, lost: true}),
		subject("keeper-grace", tale{mode: capturev1.FollowObject, grace: hour, lost: true}),
		subject("keeper-follows-custom", tale{mode: capturev1.FollowObject, custom: true, lost: true}),
		subject("keeper-expires", tale{mode: capturev1.TTL, ttl: hour, lost: true}),
		subject("keeper-stays", tale{mode: capturev1.FollowObject}),
	)
}

func subject(name string, t tale) *sim.Subject {
	return &sim.Subject{
		Name: name, Area: area, About: keeperKind, AddToScheme: capture.AddToScheme, Install: install,
		User:   harness.User(area),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + harness.SystemNamespace},
		Kinds:  []schema.GroupVersionKind{configMapKind},
		Open:   func(w *sim.World) *sim.Play { return t.open(w) },
	}
}

// tale is how one keeper fares.
type tale struct {
	mode       capturev1.KeeperMode
	ttl, grace *metav1.Duration
	custom     bool // it follows an object whose kind could be removed, and that has no namespace
	lost       bool // what it follows is deleted in the end
}

// story is a tale being told: a keeper with an artifact, and another pair that
// nothing happens to.
type story struct {
	tale
	world                *sim.World
	followed             client.Object
	artifact, bystanding *corev1.ConfigMap
	keeper, bystander    *capturev1.ObjectKeeper
	lostAt               time.Time
}

func (t tale) open(w *sim.World) *sim.Play {
	s := &story{tale: t, world: w}
	s.followed = s.newFollowed()
	s.keeper, s.bystander = s.newKeeper("keeper"), s.newKeeper("bystander")
	s.artifact, s.bystanding = configMap(w, "artifact"), configMap(w, "bystanding")
	play := &sim.Play{
		Main:  sim.Ref{GroupVersionKind: keeperKind, Key: read.Key{Name: s.keeper.Name}},
		Build: s.build,
		Steps: []sim.Step{
			{Name: "make keepers and artifacts", Do: s.begin, Until: s.tracking},
		},
		Always: s.always,
		End:    s.end,
	}
	if t.lost {
		play.Steps = append(play.Steps, sim.Step{Name: "lose the followed object", Do: s.lose, Until: s.gone})
	}
	return play
}

func configMap(w *sim.World, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
}

// newFollowed is a ConfigMap, or the keeper of nothing.
func (s *story) newFollowed() client.Object {
	if !s.custom {
		return configMap(s.world, "followed")
	}
	k := s.newKeeper("followed")
	k.Spec = capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: &metav1.Duration{Duration: 10_000 * time.Hour}}
	return k
}

func (s *story) newKeeper(name string) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace + "-" + name}}
}

func (s *story) build(c *sim.Cell) {
	r := capture.NewKeeper(c.Env(), c.Watch(), s.world.Client.RESTMapper())
	c.Cache(capture.Caches()...)
	c.Index(capture.Indexes()...)
	c.Add(sim.Controller{Reconciler: r, Kind: keeperKind, Echo: r.Store.Wrote, Wakes: capture.KeeperWakes(&kube.Waker{})})
}
