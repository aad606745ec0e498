package capture

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/sim"
)

var volumeCaptureKind = capturev1.GroupVersion.WithKind("VolumeCaptureRequest")

// volumeCaptures are the stories of captures of volumes. The claim is always made a moment
// before its request.
func volumeCaptures() []*sim.Subject {
	return []*sim.Subject{
		volumeCapture("volume-snapshot", volumeTale{ends: capturev1.ReasonCompleted}),
		volumeCapture("volume-snapshot-fails", volumeTale{ends: capturev1.ReasonDriverError, driverFails: true}),
		volumeCapture("volume-snapshot-late", volumeTale{ends: capturev1.ReasonDeadlineExceeded, driverFails: true}),
		volumeCapture("volume-detach", volumeTale{ends: capturev1.ReasonCompleted, mode: capturev1.Detach}),
		volumeCapture("volume-detach-used", volumeTale{ends: capturev1.ReasonInUse, mode: capturev1.Detach, used: true}),
	}
}

func volumeCapture(name string, t volumeTale) *sim.Subject {
	s := subject(name, tale{})
	s.Install = installStorage
	s.Kinds = []schema.GroupVersionKind{volumeCaptureKind, claimKind}
	s.Open = t.open
	return s
}

// installStorage installs the area and the kinds of snapshots.
func installStorage(t testing.TB, b *bed.Bed) {
	t.Helper()
	dir, err := parts.Dir(t.Context(), parts.Snapshotter)
	if err != nil {
		t.Fatal(err)
	}
	bedtest.InstallCRDs(t, b, dir)
	install(t, b)
}

// volumeTale is how one capture fares.
type volumeTale struct {
	mode        capturev1.VolumeCaptureMode
	ends        fsm.Reason
	driverFails bool
	used        bool // a pod comes when the volume is marked
}

// volumeStory is a tale being told.
type volumeStory struct {
	volumeTale
	world   *sim.World
	storage *storage
	request *capturev1.VolumeCaptureRequest
	claim   *corev1.PersistentVolumeClaim
	volume  *corev1.PersistentVolume
	pod     bool      // it has come
	content types.UID // of the first
}

func (t volumeTale) open(w *sim.World) *sim.Play {
	s := &volumeStory{volumeTale: t, world: w, storage: newStorage(w)}
	s.storage.fails = t.driverFails
	s.request = &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "before"},
		Spec: capturev1.VolumeCaptureRequestSpec{
			Target: capturev1.ClaimTarget{Name: "data"}, Mode: t.mode, DeadlineSeconds: 7200,
		},
	}
	switch t.ends {
	case capturev1.ReasonDriverError:
		s.request.Spec.OnTransientError = capturev1.FailAtOnce
	case capturev1.ReasonDeadlineExceeded:
		s.request.Spec.DeadlineSeconds = 1500
	}
	return &sim.Play{
		Main:      sim.Ref{GroupVersionKind: volumeCaptureKind, Key: client.ObjectKeyFromObject(s.request)},
		Build:     s.build,
		Steps:     []sim.Step{{Name: "make a claim, and capture its volume", Do: s.begin, Until: s.ended}},
		Meanwhile: s.storage.act,
		Always:    s.always,
		End:       s.end,
		Others: []sim.Other{{Name: "with its status lost", Faults: []sim.Fault{sim.Wiped}, Is: func() bool {
			_, reason := s.state()
			return reason == string(fsm.Lost)
		}}},
	}
}

func (s *volumeStory) build(c *sim.Cell) {
	config := capture.Defaults()
	r := capture.NewVolumeCapture(c.Env(), config, c.Watch(), allRights())
	c.Cache(capture.Caches()...)
	c.Index(capture.Indexes()...)
	c.Add(sim.Controller{Reconciler: r, Kind: volumeCaptureKind, Echo: r.Store.Wrote, Wakes: capture.VolumeCaptureWakes(config, &kube.Waker{})})
}

func (s *volumeStory) begin(ctx context.Context) (err error) {
	for _, obj := range []client.Object{s.storage.class(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "default"}}} {
		if err := s.world.Client.Create(ctx, obj); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	s.claim = &corev1.PersistentVolumeClaim{} // whoever is told of it asks for its name
	if s.claim, s.volume, err = s.storage.provision(ctx, s.request.Spec.Target.Name); err != nil {
		return err
	}
	return s.world.Client.Create(ctx, s.request)
}

// state is the phase of the request, and why it ended.
func (s *volumeStory) state() (fsm.Phase, string) {
	r := s.request.DeepCopy()
	if !s.world.Find(r) {
		return "", ""
	}
	if ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready); ready != nil {
		return r.Status.Phase, ready.Reason
	}
	return r.Status.Phase, ""
}

func (s *volumeStory) ended() error {
	phase, reason := s.state()
	want := volumecapture.Failed
	if s.ends == capturev1.ReasonCompleted {
		want = volumecapture.Succeeded
	}
	if phase != want || reason != string(s.ends) {
		return fmt.Errorf("it is %s for %q, want %s for %s", phase, reason, want, s.ends)
	}
	return nil
}
