package capture

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestAFailureIsNeverTriedAgain gives a failed request, afterwards, what it lacked.
func TestAFailureIsNeverTriedAgain(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	r := snapshot(namespace, "late")
	create(t, c, r)
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready); ready == nil || ready.Reason != string(capturev1.ReasonNotFound) {
			return fmt.Errorf("%s, Ready %+v", r.Status.Phase, ready)
		}
		return nil
	})
	create(t, c, &corev1.PersistentVolumeClaim{ObjectMeta: named(namespace, "late"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}})
	// Touching it wakes the controller, which must not care.
	if err := c.Patch(t.Context(), r.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"touched":"yes"}}}`))); err != nil {
		t.Fatal(err)
	}
	harness.Consistently(t, 5*time.Second, poll, func() error {
		there := &capturev1.VolumeCaptureRequest{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), there); err != nil {
			return err
		}
		if there.Status.Phase != r.Status.Phase || !there.Status.CompletionTimestamp.Equal(r.Status.CompletionTimestamp) {
			return fmt.Errorf("it moved on: %+v", there.Status)
		}
		return nil
	})
}

// TestWhoOwnsWhatAfterACapture looks at everything that a real capture made: the keeper owns it, the request owns
// nothing, and nothing has a finalizer.
func TestWhoOwnsWhatAfterACapture(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	create(t, c, &corev1.ServiceAccount{ObjectMeta: named(namespace, "statecraft-capture")})
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: named(namespace, "statecraft-capture"),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "statecraft-capture-tenant"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "statecraft-capture", Namespace: namespace}},
	})
	create(t, c, configMap(namespace, "settings"))
	r := manifests(namespace, false)
	create(t, c, r)
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if !apimeta.IsStatusConditionTrue(r.Status.Conditions, fsm.Ready) {
			return fmt.Errorf("%s: %s %+v", r.Status.Phase, r.Status.WaitingFor, r.Status.Conditions)
		}
		return nil
	})
	keeper := &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: request.KeeperName(r.UID)}}
	checkpoint := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: r.Status.CheckpointRef.Name}}
	for _, obj := range []client.Object{keeper, checkpoint} {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
	}
	made := []client.Object{checkpoint}
	for _, ref := range checkpoint.Spec.Chunks {
		chunk := &capturev1.ManifestCheckpointContentChunk{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: ref.Name}, chunk); err != nil {
			t.Fatal(err)
		}
		made = append(made, chunk)
	}
	for _, obj := range made {
		owners := obj.GetOwnerReferences()
		if len(owners) != 1 || owners[0].UID != keeper.UID || owners[0].Kind != "ObjectKeeper" || *owners[0].BlockOwnerDeletion {
			t.Errorf("%T %s is owned by %+v", obj, obj.GetName(), owners)
		}
	}
	for _, obj := range append(made, r, keeper) {
		if len(obj.GetFinalizers()) > 0 {
			t.Errorf("%T %s has finalizers %v", obj, obj.GetName(), obj.GetFinalizers())
		}
	}
	if len(keeper.OwnerReferences)+len(r.OwnerReferences) > 0 {
		t.Errorf("the keeper is owned by %v, the request by %v", keeper.OwnerReferences, r.OwnerReferences)
	}
}

// TestNobodyIsOwnedByNobody makes artifacts whose keeper has no UID yet: the API server refuses them, so they cannot
// leak silently.
func TestNobodyIsOwnedByNobody(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	holder := &corev1.PersistentVolumeClaim{ObjectMeta: named(namespace, "detached"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	for _, obj := range []client.Object{checkpoint("p"), chunk("p-0"), holder} {
		if err := harness.Accepted(t, c, obj); err != nil {
			t.Fatal(err)
		}
		obj.SetOwnerReferences([]metav1.OwnerReference{request.KeptBy("r1", "")})
		if err := harness.Accepted(t, c, obj); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "uid") {
			t.Error(errors.Join(fmt.Errorf("%T without the UID of its owner", obj), err))
		}
	}
}
