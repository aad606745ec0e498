package act

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// A claim is restored when its request says so, of this very claim, or when it is bound and the
// request has gone its way.
func TestWhatBecameOfAVolume(t *testing.T) {
	claim := func(uid types.UID, phase string) *unstructured.Unstructured {
		c := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": phase}}}
		c.SetUID(uid)
		return c
	}
	request := func(status metav1.ConditionStatus) *capturev1.VolumeRestoreRequest {
		v := &capturev1.VolumeRestoreRequest{}
		v.Status.PVCRef = &capturev1.ArtifactRef{UID: "c1"}
		if status != "" {
			v.Status.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: status, Reason: "TooSmall"}}
		}
		return v
	}
	for name, c := range map[string]struct {
		v      *capturev1.VolumeRestoreRequest
		there  *unstructured.Unstructured
		want   capturev1.RestoreResult
		reason fsm.Reason
	}{
		"it is restored":                       {request(metav1.ConditionTrue), claim("c1", "Bound"), capturev1.ResultCreated, ""},
		"its claim was deleted since":          {request(metav1.ConditionTrue), nil, capturev1.ResultFailed, manifestrestore.ReasonVanished},
		"another claim has the name":           {request(metav1.ConditionTrue), claim("c2", "Bound"), capturev1.ResultFailed, manifestrestore.ReasonVanished},
		"it goes on":                           {request(""), claim("c1", "Pending"), capturev1.ResultPending, manifestrestore.ReasonWaitingForVolumes},
		"it failed":                            {request(metav1.ConditionFalse), nil, capturev1.ResultFailed, "TooSmall"},
		"the request went its way":             {nil, claim("c1", "Bound"), capturev1.ResultCreated, ""},
		"the request was deleted on the way":   {nil, claim("c1", "Pending"), capturev1.ResultFailed, manifestrestore.ReasonVanished},
		"the request was deleted, and nothing": {nil, nil, capturev1.ResultFailed, manifestrestore.ReasonVanished},
	} {
		if r := volumeResult(c.v, c.there); r.Result != c.want || r.Reason != c.reason {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
