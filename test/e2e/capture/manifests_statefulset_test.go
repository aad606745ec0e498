//go:build full

package capture

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// ledger makes its claims by itself, and lets them go with it: so it is their controller, and would make empty ones in
// the place of those that it does not find.
const ledger = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ledger, namespace: NAMESPACE, labels: {app: ledger}}
spec:
  replicas: 2
  serviceName: ledger
  podManagementPolicy: Parallel
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}
  selector: {matchLabels: {app: ledger}}
  template:
    metadata: {labels: {app: ledger}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: ledger
        image: IMAGE
        imagePullPolicy: Never
        command: [sleep, infinity]
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data, labels: {app: ledger}}
    spec: {accessModes: [ReadWriteOnce], storageClassName: csi, resources: {requests: {storage: 8Mi}}}
`

// TestManifestsOfAStatefulSetFindTheirVolumes captures a StatefulSet with its volumes, and restores it where it has none.
func TestManifestsOfAStatefulSetFindTheirVolumes(t *testing.T) {
	s := newStage(t)
	harness.Apply(t, s.b, in(s.namespace, tenant))
	harness.Apply(t, s.b, in(s.namespace, ledger))
	s.kubectl("rollout", "status", "statefulset/ledger", "--timeout=90s")
	taken := &capturev1.ManifestCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "ledger"},
		Spec: capturev1.ManifestCaptureRequestSpec{
			Selector: &capturev1.ManifestSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "ledger"}}},
		},
	}
	for i := range 2 {
		claim := fmt.Sprintf("data-ledger-%d", i)
		s.kubectl("exec", fmt.Sprintf("ledger-%d", i), "--", "sh", "-c", "echo "+claim+" >/data/name && sync")
		volume := capture(claim, claim, capturev1.Snapshot)
		s.create(volume)
		s.succeeds(volume)
		taken.Spec.Volumes = append(taken.Spec.Volumes, capturev1.ManifestVolume{Claim: claim, VolumeCaptureRequest: claim})
	}
	s.create(taken)
	s.succeeds(taken)
	for range 3 {
		other := bedtest.Namespace(t, s.b)
		harness.Apply(t, s.b, in(other, tenant))
		back := &capturev1.ManifestRestoreRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "back"},
			Spec: capturev1.ManifestRestoreRequestSpec{
				Source: capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Namespace: s.namespace, Name: taken.Name}},
			},
		}
		if err := s.c.Create(t.Context(), back); err != nil {
			t.Fatal(err)
		}
		s.succeeds(back)
		run(t, s.b, "rollout", "status", "statefulset/ledger", "-n", other, "--timeout=90s")
		for i := range 2 {
			is := strings.TrimSpace(run(t, s.b, "exec", "-n", other, fmt.Sprintf("ledger-%d", i), "--", "cat", "/data/name"))
			if want := fmt.Sprintf("data-ledger-%d", i); is != want {
				t.Errorf("pod %d has %q, want %q", i, is, want)
			}
		}
	}
}
