package volumerestore

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const account = "statecraft-capture"

// tenant lets the account of a namespace do there what an administrator may.
func (s *storage) tenant(t *testing.T, namespace string) {
	t.Helper()
	s.create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}})
	s.create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
	})
}

// schedules plays the scheduler, which has found a node for the first pod that uses a claim.
func (s *storage) schedules(t *testing.T, namespace, claim, node string) {
	t.Helper()
	harness.Eventually(t, storageTakes, poll, func() error {
		c := &corev1.PersistentVolumeClaim{}
		if err := s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: claim}, c); err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, restorer.SelectedNode, node)
		return s.client.Update(t.Context(), c)
	})
}

// succeeds waits until a request has ended, and well.
func (s *storage) succeeds(t *testing.T, r client.Object, conditions func() []metav1.Condition) {
	t.Helper()
	harness.Eventually(t, storageTakes, poll, func() error {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		switch ready := apimeta.FindStatusCondition(conditions(), fsm.Ready); {
		case ready == nil:
			return fmt.Errorf("%T %s has not ended: %v", r, r.GetName(), conditions())
		case ready.Status != metav1.ConditionTrue:
			t.Fatalf("%T %s ended with %s: %s", r, r.GetName(), ready.Reason, ready.Message)
		}
		return nil
	})
}

// captureTwo captures a claim of each binding mode, both with orders, and a ConfigMap with them.
func (s *storage) captureTwo(t *testing.T, namespace, node string) *capturev1.ManifestCaptureRequest {
	t.Helper()
	s.capture(t, namespace, capturev1.Snapshot, orders) // request daily of claim data
	r := restoreOf(namespace, "late", bed.CSIWaitClass)
	s.create(t, r)
	s.schedules(t, namespace, "late", node)
	s.ended(t, r, capturev1.ReasonCompleted)
	late := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "late"}}
	late.Spec.Target.Name = "late"
	s.create(t, late)
	s.succeeds(t, late, func() []metav1.Condition { return late.Status.Conditions })
	s.create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}, Data: map[string]string{"colour": "blue"}})
	all := &capturev1.ManifestCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nightly"}}
	all.Spec.Selector = &capturev1.ManifestSelector{Resources: []capturev1.ManifestResource{{Resource: "configmaps"}, {Resource: "persistentvolumeclaims"}}}
	all.Spec.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "daily"}, {Claim: "late", VolumeCaptureRequest: "late"}}
	s.create(t, all)
	s.succeeds(t, all, func() []metav1.Condition { return all.Status.Conditions })
	return all
}

// comesBack deletes a namespace with everything, its captures included, and restores it by one request, from what was kept.
func comesBack(t *testing.T, s *storage, namespace string) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + namespace}}
	s.create(t, node)
	t.Cleanup(func() { _ = s.client.Delete(context.WithoutCancel(t.Context()), node) })
	s.tenant(t, namespace)
	taken := s.captureTwo(t, namespace, node.Name)

	whole := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := s.client.Delete(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	s.missing(t, whole)
	s.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	s.tenant(t, namespace)

	back := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "back"}}
	back.Spec.Source.Checkpoint = &capturev1.NameRef{Name: taken.Status.CheckpointRef.Name}
	s.create(t, back)
	s.schedules(t, namespace, "late", node.Name)
	s.succeeds(t, back, func() []metav1.Condition { return back.Status.Conditions })
	if back.Status.Counts["Created"] != 3 || back.Status.Objects != 3 {
		t.Errorf("restored %+v", back.Status.Results)
	}
	s.holds(t, namespace, "data", orders)
	s.holds(t, namespace, "late", orders)
	s.nothingLeaks(t)
}
