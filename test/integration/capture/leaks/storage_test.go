// Package leaks compares what area capture says that there is with what a real storage driver has.
package leaks

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
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
	soon = timeout.Wait
	poll = 250 * time.Millisecond
)

// rig is a cluster with storage, and one claim in it.
type rig struct {
	*testing.T
	bed       *bed.Bed
	client    client.Client
	namespace string
	handle    string // of the claim's volume
}

func newRig(t *testing.T) rig {
	t.Helper()
	b := bedtest.ControlPlane(t, bed.CSI)
	harness.Install(t, b, area)
	c := harness.Client(t, b, capturev1.AddToScheme)
	r := rig{T: t, bed: b, client: c, namespace: bedtest.Namespace(t, b)}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new(bed.CSIClass), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Mi")}},
		},
	}
	if err := c.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil || claim.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("claim is %s: %w", claim.Status.Phase, err)
		}
		return nil
	})
	volume := &corev1.PersistentVolume{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: claim.Spec.VolumeName}, volume); err != nil {
		t.Fatal(err)
	}
	r.handle = volume.Spec.CSI.VolumeHandle
	return r
}

// capture takes a snapshot of the claim.
func (r rig) capture(name string) *capturev1.VolumeCaptureRequest {
	r.Helper()
	q := &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: name},
		Spec:       capturev1.VolumeCaptureRequestSpec{Target: capturev1.ClaimTarget{Name: "data"}},
	}
	if err := r.client.Create(r.Context(), q); err != nil {
		r.Fatal(err)
	}
	harness.Eventually(r, soon, poll, func() error {
		if err := r.client.Get(r.Context(), client.ObjectKeyFromObject(q), q); err != nil {
			return err
		}
		if !apimeta.IsStatusConditionTrue(q.Status.Conditions, fsm.Ready) {
			return fmt.Errorf("%s: %s %+v", q.Status.Phase, q.Status.WaitingFor, q.Status.Conditions)
		}
		return nil
	})
	return q
}

// leaks runs the command, without any patience, and asks the driver, too.
func (r rig) leaks() (string, int) {
	r.Helper()
	path := filepath.Join(r.bed.Dir(), "statecraft-captures")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/statecraft-dev/statecraft/cmd/statecraft-captures").CombinedOutput(); err != nil {
		r.Fatalf("build the command: %v\n%s", err, out)
	}
	out, err := exec.Command(path, "leaks", "--patience=0", "--again=0", "--kubeconfig="+r.bed.Kubeconfig(),
		"--csi-endpoint=unix://"+r.bed.CSI().Socket()).CombinedOutput()
	exit := &exec.ExitError{}
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		r.Fatal(err)
	}
	return string(out), 0
}

// finds waits until the report has these words, or, with none, says that nothing leaks.
func (r rig) finds(words ...string) {
	r.Helper()
	harness.Eventually(r, soon, time.Second, func() error {
		out, code := r.leaks()
		if code != min(len(words), 1) {
			return fmt.Errorf("exit code %d:\n%s", code, out)
		}
		for _, word := range words {
			if !strings.Contains(out, word) {
				return fmt.Errorf("no %q:\n%s", word, out)
			}
		}
		return nil
	})
}

func (r rig) snapshots(want int) {
	r.Helper()
	harness.Eventually(r, soon, poll, func() error {
		if has, err := r.bed.CSI().Snapshots(); err != nil || len(has) != want {
			return fmt.Errorf("the backend has %v, want %d: %w", has, want, err)
		}
		return nil
	})
}

// driver calls the driver behind everybody's back.
func (r rig) driver() csi.ControllerClient {
	r.Helper()
	conn, err := grpc.NewClient("unix://"+r.bed.CSI().Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = conn.Close() })
	return csi.NewControllerClient(conn)
}

// TestTheReportKnowsWhatTheDriverHas goes through a day of a cluster: a capture, a snapshot that nobody asked
// for, a request that goes while the manager is away, and in the end nothing is left anywhere.
func TestTheReportKnowsWhatTheDriverHas(t *testing.T) {
	r := newRig(t)
	m := product.NewManager(t, r.bed, area)
	m.Start()
	q := r.capture("nightly")
	r.snapshots(1)
	r.finds()

	driver := r.driver()
	stray, err := driver.CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{SourceVolumeId: r.handle, Name: "stray"})
	if err != nil {
		t.Fatal(err)
	}
	r.finds(stray.Snapshot.SnapshotId, "NoObject")
	if _, err := driver.DeleteSnapshot(context.Background(), &csi.DeleteSnapshotRequest{SnapshotId: stray.Snapshot.SnapshotId}); err != nil {
		t.Fatal(err)
	}
	r.finds()

	m.Stop()
	if err := r.client.Delete(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	r.finds("request-"+string(q.UID), "NoRequest")
	m.Start()
	r.snapshots(0)
	r.finds()
}

// TestASuccessGrowsOldOnlyIfSomebodySaysSo lets the snapshot go with its request, by configuration.
func TestASuccessGrowsOldOnlyIfSomebodySaysSo(t *testing.T) {
	r := newRig(t)
	m := product.NewManager(t, r.bed, area, "--capture-ttl-failed=1s")
	m.Start()
	q := r.capture("kept")
	harness.Consistently(t, 5*time.Second, poll, func() error { return r.client.Get(t.Context(), client.ObjectKeyFromObject(q), q) })
	r.snapshots(1)
	m.Stop()
	product.NewManager(t, r.bed, area, "--capture-ttl-succeeded=2s").Start()
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), r.client, q) })
	r.snapshots(0)
	r.finds()
}
