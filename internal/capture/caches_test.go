package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/setuptest"
)

// TestAStrippedClaimLeadsToItsRestore: what the restorer keeps of a claim is all that it looks at.
func TestAStrippedClaimLeadsToItsRestore(t *testing.T) {
	restorer := setuptest.Wiring{Wakes: RestorerWakes(), Area: kube.AreaSetup{AddToScheme: AddToScheme, Caches: restorerCaches()}}
	if err := restorer.Cached(); err != nil {
		t.Fatal(err)
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
