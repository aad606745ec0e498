package valkey

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestEditsAreUndone: what a person edits in a child of a cluster that runs is made what it
// was, once, with an event; no server is restarted by it.
func TestEditsAreUndone(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	pods, named := s.podUIDs(), metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}
	for _, obj := range []client.Object{
		&corev1.Service{ObjectMeta: named}, &corev1.ConfigMap{ObjectMeta: named}, &policyv1.PodDisruptionBudget{ObjectMeta: named},
		&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web-0"}},
	} {
		kind := reflect.TypeOf(obj).Elem().Name()
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
		was, field := obj.DeepCopyObject(), ""
		update(t, s.Client, obj, "kubectl-edit", func() { field = byHand(obj) })
		harness.Eventually(t, within, poll, func() error {
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
				return err
			}
			if diff := cmp.Diff(specOf(was), specOf(obj)); diff != "" {
				return fmt.Errorf("%s is still edited: %s", kind, diff)
			}
			return s.told(kind+" "+obj.GetName(), field)
		})
	}
	s.rests()
	if now := s.podUIDs(); !cmp.Equal(pods, now) {
		t.Errorf("pods were replaced: %s", cmp.Diff(pods, now))
	}
}

// TestEditsThatStay: the template of pods is a matter of upgrades, and another controller is
// not fought with: the status tells of it.
func TestEditsThatStay(t *testing.T) {
	s := newStage(t)
	c := s.create("web")
	s.reaches(c, cluster.Running)
	pods := s.podUIDs()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web-0"}}
	update(t, s.Client, set, "kubectl-edit", func() { set.Spec.Template.Spec.Containers[0].Image = "by/hand:1" })
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"}}
	update(t, s.Client, service, "flux", func() { byHand(service) })
	harness.Eventually(t, within, poll, func() error {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		for _, condition := range c.Status.Conditions {
			if strings.Contains(condition.Message, `targetPort is set by "flux"`) {
				return nil
			}
		}
		return fmt.Errorf("nobody is told: %v", c.Status.Conditions)
	})
	s.rests()
	for _, obj := range []client.Object{set, service} {
		was := obj.DeepCopyObject()
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil || !cmp.Equal(specOf(was), specOf(obj)) {
			t.Errorf("%s was changed: %v %s", obj.GetName(), err, cmp.Diff(specOf(was), specOf(obj)))
		}
	}
	if now := s.podUIDs(); !cmp.Equal(pods, now) {
		t.Errorf("pods were replaced: %s", cmp.Diff(pods, now))
	}
}

// rests: nothing more is written.
func (s *stage) rests() {
	s.Helper()
	since := time.Now()
	harness.Consistently(s, rest, poll, func() error {
		if now := s.writes(since.Add(rest / 3)); len(now) > 0 {
			return fmt.Errorf("writes at rest: %v", now)
		}
		return nil
	})
}

// specOf is what a person sets in a child.
func specOf(obj any) any {
	switch o := obj.(type) {
	case *corev1.Service:
		return o.Spec
	case *corev1.ConfigMap:
		return o.Data
	case *policyv1.PodDisruptionBudget:
		return o.Spec
	case *appsv1.StatefulSet:
		return o.Spec
	}
	return obj
}

// told looks for the event that tells of an edit.
func (s *stage) told(child, field string) error {
	var list eventsv1.EventList
	if err := s.List(s.Context(), &list, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	for _, e := range list.Items {
		if e.Reason == string(cluster.ReasonEditUndone) && strings.Contains(e.Note, child) && strings.Contains(e.Note, field) {
			return nil
		}
	}
	return fmt.Errorf("no event tells of the edit of %s", child)
}
