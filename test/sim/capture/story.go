package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/test/sim"
)

func (s *story) begin(ctx context.Context) error {
	other := configMap(s.world, "other")
	for _, obj := range []client.Object{s.followed, other} {
		if err := s.world.Client.Create(ctx, obj); err != nil {
			return err
		}
	}
	s.keeper.Spec = capturev1.ObjectKeeperSpec{Mode: s.mode, TTL: s.ttl, NamespaceGrace: s.grace}
	if s.mode != capturev1.TTL {
		s.keeper.Spec.FollowRef = follow(s.followed, s.custom)
	}
	if s.grace != nil { // its namespace was made anew
		s.keeper.Spec.FollowRef.NamespaceUID = "of-another-namespace"
	}
	s.bystander.Spec = capturev1.ObjectKeeperSpec{Mode: capturev1.FollowObject, FollowRef: follow(other, false)}
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

func follow(obj client.Object, custom bool) *capturev1.FollowRef {
	kind := configMapKind
	if custom {
		kind = keeperKind
	}
	return &capturev1.FollowRef{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind,
		Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
	}
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
	return s.world.Client.Create(ctx, s.newFollowed())
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
	followed := s.followed.DeepCopyObject().(client.Object)
	if s.mode != capturev1.TTL && s.world.Find(followed) && followed.GetUID() == s.followed.GetUID() {
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
	want := map[string]bool{s.bystander.Name: true, s.bystanding.Name: true, "other": true, s.followed.GetName(): true}
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
