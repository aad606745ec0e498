package capture

import (
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	codec "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
	"github.com/statecraft-dev/statecraft/test/harness/keepers"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestNamesThatAreTakenAreNotUsed makes keepers, checkpoints and chunks under names that
// captures are going to need. What is there is not touched, and nothing else is left.
func TestNamesThatAreTakenAreNotUsed(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	manager := product.NewManager(t, b, area)
	tenant(t, c, namespace)
	create(t, c, configMap(namespace, "one"))
	squats := map[string]func(r *capturev1.ManifestCaptureRequest) client.Object{
		"keeper": func(r *capturev1.ManifestCaptureRequest) client.Object {
			return keepers.Following(configMap(namespace, "one"), request.KeeperName(r.UID))
		},
		"checkpoint": func(r *capturev1.ManifestCaptureRequest) client.Object {
			return &capturev1.ManifestCheckpoint{
				ObjectMeta: metav1.ObjectMeta{Name: codec.Name(r.UID)},
				Spec:       capturev1.ManifestCheckpointSpec{Origin: capturev1.Origin{Namespace: "x", NamespaceUID: "x", RequestUID: r.UID}, ResourceVersion: "1"},
			}
		},
		"chunk": func(r *capturev1.ManifestCaptureRequest) client.Object {
			e, err := codec.NewEncoder(r.UID, nil) // as anybody can who knows what is captured
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Add([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}`)); err != nil {
				t.Fatal(err)
			}
			chunks, err := e.End()
			if err != nil {
				t.Fatal(err)
			}
			return chunks[0].Object
		},
	}
	theirs := map[string]client.Object{}
	requests := map[string]*capturev1.ManifestCaptureRequest{}
	for what, squat := range squats { // while nobody is there to begin
		r := mcr(namespace, what, capturev1.ManifestCaptureRequestSpec{Targets: []capturev1.ManifestTarget{{Resource: "configmaps", Name: "one"}}})
		create(t, c, r)
		obj := squat(r)
		if k, is := obj.(*capturev1.ObjectKeeper); is {
			k.Spec.Mode, k.Spec.FollowRef, k.Spec.TTL = capturev1.TTL, nil, &metav1.Duration{Duration: time.Hour}
		}
		create(t, c, obj)
		requests[what], theirs[what] = r, obj
	}
	manager.Start()
	for what, r := range requests {
		if why := ended(t, c, r); why != capturev1.ReasonNameTaken {
			t.Errorf("%s: ended %s: %+v", what, why, r.Status.Failure)
		}
		left := leftOf(t, c, r)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(theirs[what]), theirs[what]); err != nil {
			t.Errorf("%s: what was there is gone: %v", what, err)
		}
		if slices.ContainsFunc(left, func(name string) bool { return name != theirs[what].GetName() }) {
			t.Errorf("%s: left %v", what, left)
		}
	}
}

// leftOf names the checkpoints and chunks of a request.
func leftOf(t *testing.T, c client.Client, r *capturev1.ManifestCaptureRequest) (names []string) {
	t.Helper()
	var points capturev1.ManifestCheckpointList
	var chunks capturev1.ManifestCheckpointContentChunkList
	for _, list := range []client.ObjectList{&points, &chunks} {
		if err := c.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range points.Items {
		if p.Name == codec.Name(r.UID) {
			names = append(names, p.Name)
		}
	}
	for _, chunk := range chunks.Items {
		if chunk.Spec.Checkpoint == codec.Name(r.UID) {
			names = append(names, chunk.Name)
		}
	}
	return names
}

// TestAReplacedChunkIsFound replaces a chunk by one with other content, which takes a
// deletion: chunks cannot be changed.
func TestAReplacedChunkIsFound(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	tenant(t, c, namespace)
	create(t, c, configMap(namespace, "one"))
	r := mcr(namespace, "tampered", capturev1.ManifestCaptureRequestSpec{Selector: of("configmaps")})
	create(t, c, r)
	succeeded(t, c, r)
	point, _, err := bulk.Captured(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	chunk := &capturev1.ManifestCheckpointContentChunk{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: point.Spec.Chunks[0].Name}, chunk); err != nil {
		t.Fatal(err)
	}
	changed := chunk.DeepCopy()
	changed.Spec.Data[len(changed.Spec.Data)-1] ^= 1
	if err := c.Update(t.Context(), changed); err == nil {
		t.Error("a chunk can be changed")
	}
	if err := c.Delete(t.Context(), chunk); err != nil {
		t.Fatal(err)
	}
	changed.ResourceVersion, changed.UID = "", ""
	create(t, c, changed)
	if _, _, err := bulk.Captured(t.Context(), c, r); !errors.Is(err, codec.ErrTampered) {
		t.Errorf("a chunk that was replaced: %v", err)
	}
}
