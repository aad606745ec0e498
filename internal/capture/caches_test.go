package capture

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

func caches(t *testing.T, declared []kube.Cached) kube.Caches {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := kube.NewCaches("capture", scheme, declared...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCachesHaveWhatWakesAndIndexesNeed(t *testing.T) {
	c, waker := caches(t, Caches()), &kube.Waker{}
	for _, w := range slices.Concat(KeeperWakes(waker), VolumeCaptureWakes(Defaults(), waker), VolumeRestoreWakes(), ManifestCaptureWakes(waker), ManifestRestoreWakes(waker)) {
		if w.Of == nil {
			continue
		}
		if err := c.Check(w.Of); err != nil {
			t.Errorf("wake %s: %v", w.Name, err)
		}
	}
	for _, i := range Indexes() {
		if err := c.Check(i.Of); err != nil {
			t.Errorf("index %s: %v", i.Name, err)
		}
	}
	if c.Check(&corev1.PersistentVolumeClaim{}) == nil {
		t.Error("claims are cached whole; their names are enough")
	}
}

// TestAStrippedClaimLeadsToItsRestore: what the restorer keeps of a claim is all that it looks at.
func TestAStrippedClaimLeadsToItsRestore(t *testing.T) {
	c := caches(t, restorerCaches())
	for _, w := range RestorerWakes() {
		if err := c.Check(w.Of); err != nil {
			t.Fatalf("wake %s: %v", w.Name, err)
		}
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "data", UID: "2", ResourceVersion: "3", Labels: map[string]string{"app": "shop"},
			Annotations: map[string]string{capturev1.RestoreAnnotation: "1", "note": "long"},
		},
		Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv", DataSourceRef: &corev1.TypedObjectReference{
			APIGroup: ptr.To(capturev1.GroupName), Kind: "VolumeRestoreRequest", Name: "back",
		}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
	whole := claimedRestore(t.Context(), nil, claim)
	stripClaim(claim)
	if diff := cmp.Diff(whole, claimedRestore(t.Context(), nil, claim)); diff != "" || len(whole) != 1 {
		t.Errorf("of %v: %s", whole, diff)
	}
	if len(claim.Labels) != 0 || len(claim.Annotations) != 1 || claim.Spec.VolumeName != "" || claim.Status.Phase != "" {
		t.Errorf("kept %+v", claim)
	}
	if claim.ResourceVersion != "3" || claim.UID != "2" {
		t.Errorf("the cache needs the version of %+v", claim.ObjectMeta)
	}
}
