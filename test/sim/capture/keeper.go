// Package capture has the stories of area capture for the simulation.
package capture

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed"
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
	return []*sim.Subject{
		subject("keeper-follows", tale{mode: capturev1.FollowObject, lost: true}),
		subject("keeper-outlives", tale{mode: capturev1.FollowObjectWithTTL, ttl: hour, lost: true}),
		subject("keeper-grace", tale{mode: capturev1.FollowObject, grace: hour, lost: true}),
		subject("keeper-expires", tale{mode: capturev1.TTL, ttl: hour, lost: true}),
		subject("keeper-stays", tale{mode: capturev1.FollowObject}),
	}
}

func subject(name string, t tale) *sim.Subject {
	return &sim.Subject{
		Name: name, Area: area, AddToScheme: capture.Area.AddToScheme, Install: install,
		User:   harness.User(area),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + harness.SystemNamespace},
		Kinds:  []schema.GroupVersionKind{configMapKind},
		Open:   func(w *sim.World) *sim.Play { return t.open(w) },
	}
}

// install installs the area, and lets keepers follow ConfigMaps.
func install(t testing.TB, b *bed.Bed) {
	t.Helper()
	harness.Install(t, b, area)
	c, err := client.New(b.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "follow-configmaps", Labels: map[string]string{"capture.statecraft.dev/followable": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}}},
	})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	as, err := client.New(b.ConfigFor(harness.User(area)), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, rightsWithin, rightsPoll, func() error { return as.List(t.Context(), &corev1.ConfigMapList{}) })
}

// The aggregated role is made by a controller.
const (
	rightsWithin = 30 * time.Second
	rightsPoll   = 50 * time.Millisecond
)

// tale is how one keeper fares.
type tale struct {
	mode       capturev1.KeeperMode
	ttl, grace *metav1.Duration
	lost       bool // what it follows is deleted in the end
}

// story is a tale being told: a keeper with an artifact, and another pair that
// nothing happens to.
type story struct {
	tale
	world                          *sim.World
	followed, artifact, bystanding *corev1.ConfigMap
	keeper, bystander              *capturev1.ObjectKeeper
	lostAt                         time.Time
}

func (t tale) open(w *sim.World) *sim.Play {
	s := &story{tale: t, world: w, followed: configMap(w, "followed")}
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

func (s *story) newKeeper(name string) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace + "-" + name}}
}

func (s *story) build(c *sim.Cell) {
	r := capture.NewKeeper(c.Env(), c.Watch(), s.world.Client.RESTMapper())
	c.Add(sim.Controller{Reconciler: r, Kind: keeperKind, Echo: r.Store.Wrote, Wakes: s.followers})
}

// followers are woken as in setup.go: by the UID that they follow.
func (s *story) followers(change sim.Change) (keys []read.Key) {
	if change.GroupVersionKind != configMapKind {
		return nil
	}
	for _, version := range []*unstructured.Unstructured{change.Was, change.Is} {
		for _, name := range []string{s.keeper.Name, s.bystander.Name} {
			k := &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if version != nil && s.world.Find(k) && k.Spec.FollowRef != nil && k.Spec.FollowRef.UID == version.GetUID() {
				keys = append(keys, client.ObjectKeyFromObject(k))
			}
		}
	}
	return keys
}

func (s *story) begin(ctx context.Context) error {
	other := configMap(s.world, "other")
	for _, obj := range []client.Object{s.followed, other} {
		if err := s.world.Client.Create(ctx, obj); err != nil {
			return err
		}
	}
	s.keeper.Spec = capturev1.ObjectKeeperSpec{Mode: s.mode, TTL: s.ttl, NamespaceGrace: s.grace}
	if s.mode != capturev1.TTL {
		s.keeper.Spec.FollowRef = follow(s.followed)
	}
	if s.grace != nil { // its namespace was made anew
		s.keeper.Spec.FollowRef.NamespaceUID = "of-another-namespace"
	}
	s.bystander.Spec = capturev1.ObjectKeeperSpec{Mode: capturev1.FollowObject, FollowRef: follow(other)}
	for _, one := range []struct {
		keeper   *capturev1.ObjectKeeper
		artifact *corev1.ConfigMap
	}{{s.bystander, s.bystanding}, {s.keeper, s.artifact}} {
		if err := s.world.Client.Create(ctx, one.keeper); err != nil {
			return err
		}
		one.artifact.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(one.keeper, keeperKind)}
		if err := s.world.Client.Create(ctx, one.artifact); err != nil {
			return err
		}
	}
	return nil
}

func follow(cm *corev1.ConfigMap) *capturev1.FollowRef {
	return &capturev1.FollowRef{APIVersion: "v1", Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name, UID: cm.UID}
}

func (s *story) tracking() error {
	for _, k := range []*capturev1.ObjectKeeper{s.keeper, s.bystander} {
		k = k.DeepCopy()
		if !s.world.Find(k) {
			if s.expired() {
				continue // whoever looks that late finds nothing to track
			}
			return fmt.Errorf("%s is gone", k.Name)
		}
		if k.Status.Phase != keeper.Tracking {
			return fmt.Errorf("%s is %q: %s", k.Name, k.Status.Phase, k.Status.WaitingFor)
		}
	}
	return nil
}

func (s *story) expired() bool {
	return s.mode == capturev1.TTL && !s.world.Now().Before(s.keeper.CreationTimestamp.Add(s.ttl.Duration))
}

// lose deletes the followed object, and makes another of its name.
func (s *story) lose(ctx context.Context) error {
	s.lostAt = s.world.Now()
	if err := s.world.Client.Delete(ctx, s.followed); err != nil {
		return err
	}
	return s.world.Client.Create(ctx, configMap(s.world, s.followed.Name))
}

func (s *story) gone() error {
	if k := s.keeper.DeepCopy(); s.world.Find(k) {
		return fmt.Errorf("%s is still there: %s: %s", k.Name, k.Status.Phase, k.Status.WaitingFor)
	}
	return nil
}

// always: no keeper goes while what it follows is there, or before its time.
func (s *story) always(change sim.Change) error {
	if change.GroupVersionKind != keeperKind || change.Is != nil {
		return nil
	}
	if change.Name != s.keeper.Name || !s.lost {
		return errors.New("a keeper was deleted whose object is there")
	}
	followed := s.followed.DeepCopy()
	if s.mode != capturev1.TTL && s.world.Find(followed) && followed.UID == s.followed.UID {
		return errors.New("the keeper was deleted before its object")
	}
	kept := time.Duration(0)
	for _, d := range []*metav1.Duration{s.ttl, s.grace} {
		if d != nil {
			kept = max(kept, d.Duration)
		}
	}
	since := s.lostAt.Truncate(time.Second)
	if s.mode == capturev1.TTL {
		since = s.keeper.CreationTimestamp.Time
	}
	if due := since.Add(kept); s.world.Now().Before(due) {
		return fmt.Errorf("the keeper was deleted at %s, due at %s", s.world.Now(), due)
	}
	return nil
}

// end: the keeper took its artifact with it, and nothing else.
func (s *story) end(found []*unstructured.Unstructured) error {
	want := map[string]bool{s.bystander.Name: true, s.bystanding.Name: true, "other": true, s.followed.Name: true}
	if !s.lost {
		want[s.keeper.Name], want[s.artifact.Name] = true, true
	}
	for _, obj := range found {
		if !want[obj.GetName()] {
			return fmt.Errorf("%s %s is still there", obj.GetKind(), obj.GetName())
		}
		delete(want, obj.GetName())
	}
	for name := range want {
		return fmt.Errorf("%s is missing", name)
	}
	return nil
}
