package capture

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// anyRequest is a request of any kind.
type anyRequest interface {
	client.Object
	GetProgress() *meta.Progress
}

// oneOfEach are requests of all kinds.
func oneOfEach(namespace string) map[string]anyRequest {
	named := metav1.ObjectMeta{Namespace: namespace, Name: "looked-at"}
	return map[string]anyRequest{
		"VolumeCaptureRequest": &capturev1.VolumeCaptureRequest{ObjectMeta: named, Spec: capturev1.VolumeCaptureRequestSpec{
			Target: capturev1.ClaimTarget{Name: "data"},
		}},
		"VolumeRestoreRequest": &capturev1.VolumeRestoreRequest{ObjectMeta: named, Spec: capturev1.VolumeRestoreRequestSpec{
			Source:              capturev1.VolumeSource{VolumeCaptureRequest: &capturev1.RequestRef{Name: "nightly"}},
			VolumeClaimTemplate: capturev1.VolumeClaimTemplate{Name: "data", Spec: capturev1.RestoredClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}}},
		}},
		"ManifestCaptureRequest": &capturev1.ManifestCaptureRequest{ObjectMeta: named, Spec: capturev1.ManifestCaptureRequestSpec{
			Selector: &capturev1.ManifestSelector{},
		}},
		"ManifestRestoreRequest": &capturev1.ManifestRestoreRequest{ObjectMeta: named, Spec: capturev1.ManifestRestoreRequestSpec{
			Source: capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Name: "nightly"}},
		}},
	}
}

// TestToolsSeeRequestsAsTheyAre reads requests as Flux, Argo CD and Helm do: an unfinished one
// must not pass for done, not even before the manager has seen it.
func TestToolsSeeRequestsAsTheyAre(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	for kind, r := range oneOfEach(namespace) {
		t.Run(kind, func(t *testing.T) {
			create(t, c, r)
			seenAs(t, c, r, kind, status.InProgressStatus)

			r.GetProgress().Phase = "Preparing" // as the kernel saves a one-shot that has not ended
			r.GetProgress().WaitingFor = "something"
			saveStatus(t, c, r)
			seenAs(t, c, r, kind, status.InProgressStatus)

			ends(r, "Failed", metav1.ConditionFalse)
			r.GetProgress().Conditions = append(r.GetProgress().Conditions, condition(fsm.Stalled, metav1.ConditionTrue))
			saveStatus(t, c, r)
			seenAs(t, c, r, kind, status.FailedStatus)

			ends(r, "Succeeded", metav1.ConditionTrue)
			saveStatus(t, c, r)
			seenAs(t, c, r, kind, status.CurrentStatus)
		})
	}
}

// TestToolsSeeARestoreEnd reads what the manager itself has written.
func TestToolsSeeARestoreEnd(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	const kind = "ManifestRestoreRequest"
	waits := s.ask("waits", &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: "none"}}, func(spec *capturev1.ManifestRestoreRequestSpec) {
		spec.Source = capturev1.ManifestSource{Checkpoint: &capturev1.NameRef{Name: "none"}}
	})
	s.ends(waits, capturev1.ReasonNotFound)
	seenAs(t, s.c, waits, kind, status.FailedStatus)
	done := s.ends(s.ask("done", checkpointOf(t, s.c, objectsOf(t, shop), empty), nil), capturev1.ReasonCompleted)
	seenAs(t, s.c, done, kind, status.CurrentStatus)
	if done.Status.Phase != manifestrestore.Succeeded || done.Status.ObservedGeneration != done.Generation {
		t.Errorf("it ended in phase %s, of generation %d", done.Status.Phase, done.Status.ObservedGeneration)
	}
}

func ends(r anyRequest, phase fsm.Phase, ready metav1.ConditionStatus) {
	p := r.GetProgress()
	p.Phase, p.ObservedGeneration, p.WaitingFor = phase, r.GetGeneration(), ""
	p.Conditions = []metav1.Condition{condition(fsm.Ready, ready)}
}

func condition(kind string, is metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: kind, Status: is, Reason: "Tried", LastTransitionTime: metav1.Now()}
}

func saveStatus(t *testing.T, c client.Client, r anyRequest) {
	t.Helper()
	if err := c.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// seenAs reads an object as the API server returns it.
func seenAs(t *testing.T, c client.Client, obj client.Object, kind string, want status.Status) {
	t.Helper()
	is := &unstructured.Unstructured{}
	is.SetGroupVersionKind(capturev1.GroupVersion.WithKind(kind))
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), is); err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(is)
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != want {
		t.Errorf("%s reads as %s (%s), not %s", kind, result.Status, result.Message, want)
	}
}
