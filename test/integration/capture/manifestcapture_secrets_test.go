package capture

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	codec "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
	"github.com/statecraft-dev/statecraft/test/product"
)

const captureCanary = "captureCanary-5d3c3e0a"

// keys makes the operator's keys; the first is active.
func keys(t *testing.T, c client.Client, ids ...string) {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: codec.KeysSecret},
		Data:       map[string][]byte{},
	}
	for _, id := range ids {
		secret.Data[id] = bytes.Repeat([]byte(id), 16)
	}
	if len(ids) > 0 {
		secret.Data["active"] = []byte(ids[0])
	}
	if err := c.Delete(t.Context(), secret.DeepCopy()); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	if len(ids) > 0 {
		create(t, c, secret)
	}
}

func secretSpec() capturev1.ManifestCaptureRequestSpec {
	return capturev1.ManifestCaptureRequestSpec{Selector: of("secrets", "configmaps"), IncludeSecrets: true}
}

func TestSecretsAreCapturedEncryptedAndTold(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	manager := product.NewManager(t, b, area)
	manager.Start()
	tenant(t, c, namespace, "statecraft-capture-tenant-secrets")
	create(t, c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "password"}, StringData: map[string]string{"password": captureCanary}})

	// Without a key nothing is captured.
	keys(t, c)
	none := mcr(namespace, "no-key", secretSpec())
	create(t, c, none)
	if why := ended(t, c, none); why != capturev1.ReasonKeyMissing {
		t.Errorf("without a key: %s", why)
	}

	keys(t, c, "k1")
	r := mcr(namespace, "with-key", secretSpec())
	create(t, c, r)
	succeeded(t, c, r)
	point, objects, err := bulk.Captured(t.Context(), c, r)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(objects); !strings.Contains(string(text), base64.StdEncoding.EncodeToString([]byte(captureCanary))) {
		t.Error("the Secret was not captured")
	}
	seen := told(t, c, namespace)
	for _, ref := range point.Spec.Chunks {
		chunk := &capturev1.ManifestCheckpointContentChunk{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: ref.Name}, chunk); err != nil {
			t.Fatal(err)
		}
		seen["chunk "+ref.Name] = string(chunk.Spec.Data)
	}
	seen["log"] = manager.Log()
	for what, text := range seen {
		if strings.Contains(text, captureCanary) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(captureCanary))) {
			t.Errorf("%s holds the secret", what)
		}
	}

	// Another key becomes active: what the old one wraps can still be read. Without it, not.
	keys(t, c, "k2", "k1")
	if _, _, err := bulk.Captured(t.Context(), c, r); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	later := mcr(namespace, "rotated", secretSpec())
	create(t, c, later)
	succeeded(t, c, later)
	if point, _, err := bulk.Captured(t.Context(), c, later); err != nil || point.Spec.Encryption.KeyID != "k2" {
		t.Errorf("encrypted with %+v: %v", point.Spec.Encryption, err)
	}
	keys(t, c, "k2")
	if _, _, err := bulk.Captured(t.Context(), c, r); !errors.Is(err, codec.ErrKeyMissing) {
		t.Errorf("without its key: %v", err)
	}
}

func claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

// told is what a namespace says of itself: requests and events.
func told(t *testing.T, c client.Client, namespace string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	for what, list := range map[string]client.ObjectList{
		"requests": &capturev1.ManifestCaptureRequestList{}, "events": &corev1.EventList{}, "checkpoints": &capturev1.ManifestCheckpointList{},
	} {
		in := namespace
		if what == "checkpoints" {
			in = ""
		}
		if err := c.List(t.Context(), list, client.InNamespace(in)); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		seen[what] = string(text)
	}
	return seen
}

func TestWhatMayNotBeReadFailsACaptureAndSaysWhichRightIsMissing(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	keys(t, c, "k1")
	tenant(t, c, namespace) // without Secrets
	r := mcr(namespace, "not-mine", secretSpec())
	create(t, c, r)
	if why := ended(t, c, r); why != capturev1.ReasonForbidden {
		t.Fatalf("ended %s: %+v", why, r.Status.Failure)
	}
	if want := `apiGroups: [""], resources: ["secrets"], verbs: ["list"]`; !strings.Contains(r.Status.Failure.Message, want) {
		t.Errorf("%q does not say %q", r.Status.Failure.Message, want)
	}
	for what, c2 := range map[string]struct {
		spec capturev1.ManifestCaptureRequestSpec
		want string
	}{
		"not there": {capturev1.ManifestCaptureRequestSpec{Targets: []capturev1.ManifestTarget{{Resource: "configmaps", Name: "nowhere"}}}, "NotFound"},
		"a claim":   {capturev1.ManifestCaptureRequestSpec{Selector: of("persistentvolumeclaims")}, "VolumeNotCaptured"},
		"a volume":  {capturev1.ManifestCaptureRequestSpec{Selector: of("configmaps"), Volumes: []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nowhere"}}}, "VolumeNotCaptured"},
		"events":    {capturev1.ManifestCaptureRequestSpec{Selector: of("events")}, "InvalidTarget"},
	} {
		if what == "a claim" {
			create(t, c, claim(namespace, "data"))
		}
		r := mcr(namespace, strings.ReplaceAll(what, " ", "-"), c2.spec)
		create(t, c, r)
		if why := ended(t, c, r); string(why) != c2.want {
			t.Errorf("%s: ended %s: %+v", what, why, r.Status.Failure)
		}
	}
}
