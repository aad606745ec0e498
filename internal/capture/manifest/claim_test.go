package manifest

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// TestWhoseDataACaptureHas: names of claims are used again, UIDs are not.
func TestWhoseDataACaptureHas(t *testing.T) {
	for what, c := range map[string]struct {
		is   string
		mode capturev1.VolumeCaptureMode
		of   types.UID // "" is that the capture does not say
		want bool
	}{
		"of this claim":                             {`{"metadata":{"name":"data","uid":"u1"},"spec":{"volumeName":"pv-1"}}`, capturev1.Snapshot, "u1", true},
		"of one that had the name before":           {`{"metadata":{"name":"data","uid":"u2"},"spec":{"volumeName":"pv-2"}}`, capturev1.Snapshot, "u1", false},
		"of one before, and this has no volume yet": {`{"metadata":{"name":"data","uid":"u2"},"spec":{}}`, capturev1.Snapshot, "u1", false},
		"that was detached, and made again for it":  {`{"metadata":{"name":"data","uid":"u2"},"spec":{}}`, capturev1.Detach, "u1", true},
		"that was detached, and has a volume again": {`{"metadata":{"name":"data","uid":"u2"},"spec":{"volumeName":"pv-2"}}`, capturev1.Detach, "u1", false},
		"of nobody knows which":                     {`{"metadata":{"name":"data","uid":"u1"},"spec":{}}`, capturev1.Snapshot, "", false},
	} {
		in := NewIntake(&capturev1.ManifestCaptureRequestSpec{Volumes: []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nightly"}}}, Plan{})
		if _, err := in.Take(Query{Resource: core("persistentvolumeclaims", "PersistentVolumeClaim")}, []byte(c.is)); err != nil {
			t.Fatal(err)
		}
		v := &capturev1.VolumeCaptureRequest{Spec: capturev1.VolumeCaptureRequestSpec{Mode: c.mode}}
		if c.of != "" {
			v.Status.Origin = &capturev1.Origin{Claim: "data", ClaimUID: c.of}
		}
		if got := in.Claim("data").CapturedBy(v); got != c.want {
			t.Errorf("a capture %s: %t", what, got)
		}
	}
}
