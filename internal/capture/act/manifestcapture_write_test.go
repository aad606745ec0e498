package act

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestAClaimIsNotGivenTheDataOfAnother: the capture is of the name that the request says, and Ready; its data may still
// be that of a claim that was deleted since.
func TestAClaimIsNotGivenTheDataOfAnother(t *testing.T) {
	nightly := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "nightly", UID: "v1"}}
	nightly.Spec.Target.Name = "data"
	nightly.Status.Origin = &capturev1.Origin{Namespace: "shop", NamespaceUID: "n1", Claim: "data", ClaimUID: "u1"}
	nightly.Status.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionTrue, Reason: "Completed"}}
	request := someRequest.DeepCopy()
	request.Spec.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nightly"}}
	a := ManifestCapture{Live: read.Live{Reader: serving(t, nightly)}}
	for claim, same := range map[string]bool{
		`{"metadata":{"name":"data","uid":"u1"},"spec":{"volumeName":"pv-1"}}`: true,
		`{"metadata":{"name":"data","uid":"u2"},"spec":{"volumeName":"pv-2"}}`: false,
	} {
		in := manifest.NewIntake(&request.Spec, manifest.Plan{})
		claims := manifest.Query{Resource: manifest.Resource{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim"}}
		if _, err := in.Take(claims, []byte(claim)); err != nil {
			t.Fatal(err)
		}
		volumes, err := a.volumes(t.Context(), request, in)
		refusal := (*manifest.Refusal)(nil)
		switch {
		case same && (err != nil || len(volumes) != 1 || volumes[0].UID != "v1"):
			t.Errorf("the claim that was captured has %v: %v", volumes, err)
		case !same && (!errors.As(err, &refusal) || refusal.Reason != capturev1.ReasonVolumeNotCaptured):
			t.Errorf("a claim that was made since has %v: %v", volumes, err)
		}
	}
}
