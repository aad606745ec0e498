// Package volumecapture tests captures of volumes on a real driver with the real sidecars,
// and the manager as a process that has only the rights its manifests grant.
package volumecapture

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area = "capture"
	// Waiting, named once. Sidecars and the garbage collector take their time.
	within = timeout.Wait
	poll   = 100 * time.Millisecond
)

// rig is one test's view of the bed that all share. Tests run one after another: a fault of
// the driver is everybody's.
type rig struct {
	*testing.T
	bed       *bed.Bed
	client    client.Client
	csi       *bed.CSIDriver
	manager   *product.Manager
	namespace string
	before    []string // snapshots of the backend
}

func newRig(t *testing.T) rig {
	t.Helper()
	b := bedtest.ControlPlane(t, bed.CSI)
	c := harness.Client(t, b, snapshotv1.AddToScheme, capturev1.AddToScheme)
	t.Cleanup(b.CSI().Proxy().Clear)
	r := rig{T: t, bed: b, client: c, csi: b.CSI()}
	r.before = r.snapshots()
	r.manager = product.NewManager(t, b, area)
	r.manager.Start()
	r.namespace = bedtest.Namespace(t, b)
	return r
}

func (r rig) create(object client.Object) {
	r.Helper()
	if err := r.client.Create(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

func (r rig) delete(object client.Object) {
	r.Helper()
	if err := r.client.Delete(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

func (r rig) eventually(ask func() error) {
	r.Helper()
	harness.Eventually(r.T, within, poll, ask)
}

func (r rig) gone(object client.Object) {
	r.Helper()
	r.eventually(func() error { return harness.Gone(r.Context(), r.client, object) })
}

// newClaim asks for a volume of the driver.
func (r rig) newClaim(name string) *corev1.PersistentVolumeClaim {
	class := bed.CSIClass
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Mi")}},
		},
	}
}

// claim makes a claim and waits until it is bound.
func (r rig) claim(name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	r.Helper()
	claim, volume := r.newClaim(name), &corev1.PersistentVolume{}
	r.create(claim)
	r.eventually(func() error {
		if err := r.client.Get(r.Context(), client.ObjectKeyFromObject(claim), claim); err != nil || claim.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("claim %s is %s: %w", name, claim.Status.Phase, err)
		}
		return r.client.Get(r.Context(), client.ObjectKey{Name: claim.Spec.VolumeName}, volume)
	})
	return claim, volume
}

// newRequest captures a claim of the same name.
func (r rig) newRequest(name string, change func(*capturev1.VolumeCaptureRequestSpec)) *capturev1.VolumeCaptureRequest {
	q := &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Spec:       capturev1.VolumeCaptureRequestSpec{Target: capturev1.ClaimTarget{Name: name}},
	}
	if change != nil {
		change(&q.Spec)
	}
	return q
}

// ends waits until a request has ended for this reason.
func (r rig) ends(q *capturev1.VolumeCaptureRequest, want fsm.Reason) {
	r.Helper()
	r.eventually(func() error {
		if err := r.client.Get(r.Context(), client.ObjectKeyFromObject(q), q); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(q.Status.Conditions, fsm.Ready)
		if ready == nil {
			return fmt.Errorf("%s is %s and waits for %s", q.Name, q.Status.Phase, q.Status.WaitingFor)
		}
		if ready.Reason != string(want) {
			r.Fatalf("%s ended for %s: %s; want %s", q.Name, ready.Reason, ready.Message, want)
		}
		return nil
	})
}

func keeperOf(q *capturev1.VolumeCaptureRequest) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: request.KeeperName(q.UID)}}
}

func contentOf(q *capturev1.VolumeCaptureRequest) *snapshotv1.VolumeSnapshotContent {
	return &snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: volumecapture.ContentName(q.UID)}}
}

// snapshots are those that the backend has beyond what it had when the test began.
func (r rig) snapshots() []string {
	r.Helper()
	now, err := r.csi.Snapshots()
	if err != nil {
		r.Fatal(err)
	}
	return slices.DeleteFunc(now, func(handle string) bool { return slices.Contains(r.before, handle) })
}

// nothingLeft waits until request, keeper and content are gone, and all snapshots of the test.
func (r rig) nothingLeft(requests ...*capturev1.VolumeCaptureRequest) {
	r.Helper()
	for _, q := range requests {
		r.gone(q)
		r.gone(keeperOf(q))
		r.gone(contentOf(q))
	}
	r.eventually(func() error {
		if left := r.snapshots(); len(left) > 0 {
			return fmt.Errorf("snapshots %q are left", left)
		}
		return nil
	})
}

var errNotYet = errors.New("not yet")
