package volumecapture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func detach(s *capturev1.VolumeCaptureRequestSpec) { s.Mode = capturev1.Detach }

// gathers is how long somebody tries to bind a volume that is not theirs.
const gathers = 20 * time.Second

func TestADetachedVolumeIsHeldWithItsDataAndGoesWithItsRequest(t *testing.T) {
	r := newRig(t)
	claim, volume := r.claim("data")
	file := filepath.Join(r.csi.VolumeDir(volume.Spec.CSI.VolumeHandle), "precious")
	if err := os.WriteFile(file, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	q := r.newRequest("data", detach)
	r.create(q)
	r.ends(q, capturev1.ReasonCompleted)
	r.wrote(since, map[string]int{
		"create objectkeepers.capture.statecraft.dev": 1,
		"patch persistentvolumes":                     3,
		"delete persistentvolumeclaims":               1,
		"create persistentvolumeclaims":               1,
		statusWrites:                                  3,
	})
	t.Logf("detached in %s", q.Status.CompletionTimestamp.Sub(q.CreationTimestamp.Time))
	r.gone(claim)
	r.held(q, volume)
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the data is gone: %v", err)
	}

	thief := r.newClaim("thief")
	thief.Spec.VolumeName = volume.Name
	r.create(thief)
	harness.Consistently(t, gathers, poll, func() error {
		if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(thief), thief); err != nil || thief.Status.Phase == corev1.ClaimBound {
			return fmt.Errorf("the thief is %s: %w", thief.Status.Phase, err)
		}
		return nil
	})
	r.delete(thief)
	r.held(q, volume)

	r.delete(q)
	r.gone(keeperOf(q))
	r.gone(holderOf(q))
	r.gone(volume)
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("the backend still has the volume: %v", err)
	}
}

func holderOf(q *capturev1.VolumeCaptureRequest) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: volumecapture.HolderName(q.UID)}}
}

// held says that the volume is bound to its holder and goes with it.
func (r rig) held(q *capturev1.VolumeCaptureRequest, v *corev1.PersistentVolume) {
	r.Helper()
	holder := holderOf(q)
	for _, obj := range []client.Object{holder, v} {
		if err := r.client.Get(r.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			r.Fatal(err)
		}
	}
	if holder.Status.Phase != corev1.ClaimBound || v.Spec.ClaimRef.UID != holder.UID || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		r.Errorf("the volume is not held: holder %s, volume %s of %s", holder.Status.Phase, v.Spec.PersistentVolumeReclaimPolicy, v.Spec.ClaimRef.Name)
	}
}

func TestAClaimThatAPodUsesIsNotDetached(t *testing.T) {
	r := newRig(t)
	claim, volume := r.claim("data")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "user"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "none"}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
			}}},
		},
	}
	r.eventually(func() error { // the account of pods is made by a controller
		if err := r.client.Create(t.Context(), pod); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	})
	q := r.newRequest("data", detach)
	r.create(q)
	r.ends(q, capturev1.ReasonInUse)
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil || claim.DeletionTimestamp != nil {
		t.Errorf("the claim was touched: %v", err)
	}
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(volume), volume); err != nil || volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("the volume was touched: %v", err)
	}
}
