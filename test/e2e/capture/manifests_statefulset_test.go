//go:build full

package capture

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/csiproxy"
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

// books captures the StatefulSet with its volumes.
func (s *stage) books() *capturev1.ManifestCaptureRequest {
	s.T.Helper()
	harness.Apply(s.T, s.Bed, in(s.Namespace, tenant))
	harness.Apply(s.T, s.Bed, in(s.Namespace, ledger))
	s.Kubectl("rollout", "status", "statefulset/ledger", "--timeout=90s")
	taken := &capturev1.ManifestCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "ledger"},
		Spec: capturev1.ManifestCaptureRequestSpec{
			Selector: &capturev1.ManifestSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "ledger"}}},
		},
	}
	for i := range 2 {
		claim := fmt.Sprintf("data-ledger-%d", i)
		s.Kubectl("exec", fmt.Sprintf("ledger-%d", i), "--", "sh", "-c", "echo "+claim+" >/data/name && sync")
		volume := capture(claim, claim, capturev1.Snapshot)
		s.Create(volume)
		s.succeeds(volume)
		taken.Spec.Volumes = append(taken.Spec.Volumes, capturev1.ManifestVolume{Claim: claim, VolumeCaptureRequest: claim})
	}
	s.Create(taken)
	s.succeeds(taken)
	return taken
}

// bring begins to restore into a namespace what was captured in this one.
func (s *stage) bring(taken *capturev1.ManifestCaptureRequest, name, into string, change func(*capturev1.ManifestRestoreRequestSpec)) *capturev1.ManifestRestoreRequest {
	s.T.Helper()
	back := &capturev1.ManifestRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: into, Name: name},
		Spec: capturev1.ManifestRestoreRequestSpec{
			Source: capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Namespace: s.Namespace, Name: taken.Name}},
		},
	}
	change(&back.Spec)
	if err := s.Client.Create(s.T.Context(), back); err != nil {
		s.T.Fatal(err)
	}
	return back
}

// reads waits until the StatefulSet runs, and looks whether each pod has its own volume.
func (s *stage) reads(namespace string) {
	s.T.Helper()
	run(s.T, s.Bed, "rollout", "status", "statefulset/ledger", "-n", namespace, "--timeout=90s")
	for i := range 2 {
		is := strings.TrimSpace(run(s.T, s.Bed, "exec", "-n", namespace, fmt.Sprintf("ledger-%d", i), "--", "cat", "/data/name"))
		if want := fmt.Sprintf("data-ledger-%d", i); is != want {
			s.T.Errorf("pod %d has %q, want %q", i, is, want)
		}
	}
}

// TestManifestsOfAStatefulSetFindTheirVolumes captures a StatefulSet with its volumes, and restores it where it has none.
func TestManifestsOfAStatefulSetFindTheirVolumes(t *testing.T) {
	s := newStage(t)
	taken := s.books()
	for range 3 {
		other := bedtest.Namespace(t, s.Bed)
		harness.Apply(t, s.Bed, in(other, tenant))
		s.succeeds(s.bring(taken, "back", other, func(*capturev1.ManifestRestoreRequestSpec) {}))
		s.reads(other)
	}
}

// TestManifestsWhoseVolumesFailDoNotStartEmpty restores a StatefulSet while the driver makes no volumes. Its pods wait for
// the claims that are there, and after what the runbook says another restore brings back all.
func TestManifestsWhoseVolumesFailDoNotStartEmpty(t *testing.T) {
	s := newStage(t)
	taken := s.books()
	other := bedtest.Namespace(t, s.Bed)
	harness.Apply(t, s.Bed, in(other, tenant))
	s.Bed.CSI().Proxy().Fail("CreateVolume", codes.Internal, csiproxy.Always)
	t.Cleanup(s.Bed.CSI().Proxy().Clear)
	failed := s.bring(taken, "failed", other, func(r *capturev1.ManifestRestoreRequestSpec) { r.DeadlineSeconds = 30 })
	if end := s.ended(failed); end.Status != metav1.ConditionFalse {
		t.Fatalf("%s: %s", end.Reason, end.Message)
	}
	s.Bed.CSI().Proxy().Clear()
	claims := func() string {
		return run(t, s.Bed, "get", "pvc", "-n", other, "-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.phase}{"\n"}{end}`)
	}
	left := claims()
	if strings.Count(left, "Pending") != 2 {
		t.Errorf("claims that are left:\n%s", left)
	}
	// Now the driver is well, and would fill any claim that the StatefulSet made.
	witness := s.bound("witness")
	s.Delete(witness)
	if is := claims(); is != left {
		t.Errorf("claims were\n%sand are\n%s", left, is)
	}
	second := s.bring(taken, "second", other, func(r *capturev1.ManifestRestoreRequestSpec) { r.ConflictPolicy = capturev1.ConflictSkip })
	if end := s.ended(second); end.Status != metav1.ConditionFalse {
		t.Errorf("over claims without volumes it is %s: %s", end.Reason, end.Message)
	}
	run(t, s.Bed, "delete", "statefulset", "ledger", "-n", other, "--cascade=foreground")
	run(t, s.Bed, "delete", "pvc", "--all", "-n", other)
	s.succeeds(s.bring(taken, "third", other, func(r *capturev1.ManifestRestoreRequestSpec) { r.ConflictPolicy = capturev1.ConflictSkip }))
	s.reads(other)
}
