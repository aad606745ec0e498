// Package volumerestore tests restores of volumes on a real driver with the real sidecars, and
// the manager and the restorer as processes that have only the rights their manifests grant.
package volumerestore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/keepers"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area         = "capture"
	restorerUser = "system:serviceaccount:" + harness.SystemNamespace + ":statecraft-restorer"
	storageTakes = timeout.Wait // for what a driver and its sidecars do
	soon         = timeout.Wait
	poll         = 100 * time.Millisecond
	glance       = 10 * time.Millisecond
)

// storage is a bed with a CSI driver, and everything that restores need.
type storage struct {
	bed      *bed.Bed
	client   client.Client
	csi      *bed.CSIDriver
	manager  *product.Manager
	restorer *restorerProcess
}

func newStorage(t *testing.T) *storage {
	t.Helper()
	b, err := bed.Start(context.Background(), bed.ControlPlane, bed.CSI)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := harness.Client(t, b, snapshotv1.AddToScheme, capturev1.AddToScheme)
	s := &storage{bed: b, client: c, csi: b.CSI(), manager: product.NewManager(t, b, area)}
	s.manager.Start()
	if out, err := b.Kubectl(t.Context(), "apply", "-f", filepath.Join(harness.Root(t), "config", "rbac", "capture-restorer")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.restorer = newRestorer(t, b)
	s.restorer.start(t, alone)
	keepers.AwaitCollection(t, c, bedtest.Namespace(t, b))
	return s
}

// restorerProcess is the restorer, with the rights that its manifests grant.
type restorerProcess struct {
	binary, kubeconfig, log string
	socket                  string
	cmd                     *exec.Cmd
}

func newRestorer(t *testing.T, b *bed.Bed) *restorerProcess {
	t.Helper()
	p := &restorerProcess{
		binary: filepath.Join(b.Dir(), "statecraft-restorer"), log: filepath.Join(b.Dir(), "restorer.log"), socket: b.CSI().Socket(),
	}
	if out, err := exec.Command("go", "build", "-o", p.binary, "github.com/statecraft-dev/statecraft/cmd/statecraft-restorer").CombinedOutput(); err != nil {
		t.Fatalf("build the restorer: %v\n%s", err, out)
	}
	var err error
	if p.kubeconfig, err = b.KubeconfigFor(restorerUser, "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill(t)
		if said, err := os.ReadFile(p.log); err == nil && t.Failed() {
			t.Logf("log of the restorer:\n%s", said[max(0, len(said)-8000):])
		}
	})
	return p
}

// alone is for a restorer that need not be elected.
const alone = "--no-leader-election"

func (p *restorerProcess) start(t *testing.T, args ...string) {
	t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	p.cmd = exec.Command(p.binary, append(args, "--kubeconfig="+p.kubeconfig, "--csi-address="+p.socket, "--namespace="+harness.SystemNamespace,
		"--health-probe-bind-address=0", "--csi-timeout=5s", "--zap-log-level=debug")...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// kill ends the process at once, as a crash does.
func (p *restorerProcess) kill(t *testing.T) {
	t.Helper()
	if p.cmd == nil {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = p.cmd.Wait() // it was killed
	p.cmd = nil
}

// effects counts what the restorer has done so far, by its log.
func (p *restorerProcess) effects() int {
	said, err := os.ReadFile(p.log)
	if err != nil {
		return 0
	}
	return bytes.Count(said, []byte("effect performed"))
}

// capture makes a claim with some bytes, captures it and returns the capture.
func (s *storage) capture(t *testing.T, namespace string, mode capturev1.VolumeCaptureMode, text string) *capturev1.VolumeCaptureRequest {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "data"}}
	class := bed.CSIClass
	claim.Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: modes(), Resources: size("16Mi")}
	s.create(t, claim)
	handle := s.bound(t, claim)
	if err := os.WriteFile(filepath.Join(s.csi.VolumeDir(handle), "orders"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "daily"}}
	r.Spec.Target.Name, r.Spec.Mode = claim.Name, mode
	s.create(t, r)
	harness.Eventually(t, storageTakes, poll, func() error {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if !apimeta.IsStatusConditionTrue(r.Status.Conditions, fsm.Ready) {
			return fmt.Errorf("the capture is %s: %s %v", r.Status.Phase, r.Status.WaitingFor, r.Status.Conditions)
		}
		return nil
	})
	return r
}

func modes() []corev1.PersistentVolumeAccessMode {
	return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
}

func size(s string) corev1.VolumeResourceRequirements {
	return corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(s)}}
}

// restoreOf is a request from capture daily of its namespace.
func restoreOf(namespace, name, class string) *capturev1.VolumeRestoreRequest {
	r := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	r.Spec.Source.VolumeCaptureRequest = &capturev1.RequestRef{Name: "daily"}
	r.Spec.VolumeClaimTemplate = capturev1.VolumeClaimTemplate{Name: name, Spec: capturev1.RestoredClaimSpec{
		AccessModes: modes(), StorageClassName: &class, Resources: size("16Mi"),
	}}
	return r
}

func (s *storage) create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := s.client.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// bound waits until a claim is bound, and returns the handle of its volume.
func (s *storage) bound(t *testing.T, claim *corev1.PersistentVolumeClaim) string {
	t.Helper()
	harness.Eventually(t, storageTakes, poll, func() error {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		if claim.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("claim %s is %s", claim.Name, claim.Status.Phase)
		}
		return nil
	})
	v := &corev1.PersistentVolume{}
	if err := s.client.Get(t.Context(), client.ObjectKey{Name: claim.Spec.VolumeName}, v); err != nil {
		t.Fatal(err)
	}
	return v.Spec.CSI.VolumeHandle
}

// ended waits until a request has ended for this reason.
func (s *storage) ended(t *testing.T, r *capturev1.VolumeRestoreRequest, reason fsm.Reason) {
	t.Helper()
	harness.Eventually(t, storageTakes, poll, func() error {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready)
		if ready == nil || r.Status.CompletionTimestamp == nil {
			return fmt.Errorf("request %s is %s: %s", r.Name, r.Status.Phase, r.Status.WaitingFor)
		}
		if ready.Reason != string(reason) {
			t.Fatalf("request %s ended %s: %s", r.Name, ready.Reason, ready.Message)
		}
		return nil
	})
}

// holds says that a claim holds this text.
func (s *storage) holds(t *testing.T, namespace, name, text string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	got, err := os.ReadFile(filepath.Join(s.csi.VolumeDir(s.bound(t, claim)), "orders"))
	if err != nil || string(got) != text {
		t.Errorf("claim %s holds %d bytes, not the %d that were captured: %v", name, len(got), len(text), err)
	}
}

// nothingLeaks waits until the driver has no volume that no PersistentVolume owns, and no
// intent is left.
func (s *storage) nothingLeaks(t *testing.T) {
	t.Helper()
	harness.Eventually(t, storageTakes, poll, func() error {
		var intents corev1.ConfigMapList
		if err := s.client.List(t.Context(), &intents, client.InNamespace(harness.SystemNamespace), client.HasLabels{restorer.IntentLabel}); err != nil {
			return err
		}
		var owned corev1.PersistentVolumeList
		if err := s.client.List(t.Context(), &owned); err != nil {
			return err
		}
		volumes, err := s.csi.Volumes()
		if err != nil {
			return err
		}
		for i := range owned.Items {
			handle := owned.Items[i].Spec.CSI.VolumeHandle
			volumes = slices.DeleteFunc(volumes, func(v string) bool { return v == handle })
		}
		if len(volumes) > 0 || len(intents.Items) > 0 {
			return fmt.Errorf("%d intents are left, and volumes that nobody owns: %v", len(intents.Items), volumes)
		}
		return nil
	})
}

func (s *storage) missing(t *testing.T, obj client.Object) {
	t.Helper()
	harness.Eventually(t, storageTakes, poll, func() error {
		err := s.client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%T %s is there: %w", obj, obj.GetName(), err)
	})
}
