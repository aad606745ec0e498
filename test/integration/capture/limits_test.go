package capture

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// captureOf captures one ConfigMap.
func captureOf(namespace, name, of string) *capturev1.ManifestCaptureRequest {
	return mcr(namespace, name, capturev1.ManifestCaptureRequestSpec{Targets: []capturev1.ManifestTarget{{Resource: "configmaps", Name: of}}})
}

// TestACaptureOutlivesAnAccidentalDelete: the request asks for no retention, and is deleted. What it captured can be
// restored for a while, and goes then.
func TestACaptureOutlivesAnAccidentalDelete(t *testing.T) {
	const floor = 8 * time.Second
	s := newScene(t)
	product.NewManager(t, s.bed, area, fmt.Sprintf("--capture-retention-min=%s", floor)).Start()
	there, taken := victim(t, s.bed, s.c)
	point := &capturev1.ManifestCheckpoint{}
	if err := s.c.Get(t.Context(), client.ObjectKey{Name: taken.Status.CheckpointRef.Name}, point); err != nil {
		t.Fatal(err)
	}
	deleted := time.Now()
	if err := s.c.Delete(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	k := &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: request.KeeperName(taken.UID)}}
	harness.Eventually(t, soon, poll, func() error {
		if err := s.c.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
			return err
		}
		if k.Status.Phase != keeper.Expiring || k.Status.ExpiresAt == nil {
			return fmt.Errorf("the keeper is %s", k.Status.Phase)
		}
		return nil
	})
	if keeps := k.Status.ExpiresAt.Sub(deleted); keeps < floor-time.Second {
		t.Errorf("it keeps what was captured for %s", keeps)
	}
	s.ends(s.ask("rescue", point, nil), capturev1.ReasonCompleted)
	if s.uidOf(&corev1.ConfigMap{}, "prices") == "" {
		t.Errorf("what was captured in %s did not come back", there)
	}
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), s.c, point) })
	if lived := time.Since(deleted); lived < floor-time.Second {
		t.Errorf("it was gone after %s", lived)
	}
}

// TestRetentionHasAMaximum: nobody keeps captures for ever.
func TestRetentionHasAMaximum(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area, "--capture-retention-max=1h").Start()
	long := &metav1.Duration{Duration: 87600 * time.Hour}
	volume, manifests := snapshot(namespace, "data"), captureOf(namespace, "manifests", "kube-root-ca.crt")
	volume.Spec.RetainAfterDeletion, manifests.Spec.RetainAfterDeletion = long, long
	for _, obj := range []client.Object{volume, manifests} {
		create(t, c, obj)
		refusedFor(t, c, obj, capturev1.ReasonRetentionTooLong,
			"retainAfterDeletion is 87600h0m0s, but the operator allows at most 1h0m0s; ask for less in another request.")
	}
}

// TestNobodyFillsEtcd: captures are refused when the checkpoints of a namespace hold what they may, and leave nothing.
func TestNobodyFillsEtcd(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area, "--capture-checkpoint-share=1048576").Start()
	tenant(t, c, namespace)
	noise := make([]byte, 640<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	big := configMap(namespace, "big")
	big.Data = map[string]string{"noise": base64.StdEncoding.EncodeToString(noise)}
	create(t, c, big)
	first, second := captureOf(namespace, "first", big.Name), captureOf(namespace, "second", big.Name)
	create(t, c, first)
	succeeded(t, c, first)
	create(t, c, second)
	refusedFor(t, c, second, capturev1.ReasonOverBudget, "The checkpoints of namespace "+namespace+" hold 0.8 MiB of the 1.0 MiB that the operator "+
		"allows, and this one needs 0.8 MiB. Delete captures that are not needed (statecraft-captures list shows their sizes), or raise "+
		"--capture-checkpoint-share; then make another request.")
	var chunks capturev1.ManifestCheckpointContentChunkList
	if err := c.List(t.Context(), &chunks, client.MatchingLabels{manifestcapture.RequestLabel: string(second.UID)}); err != nil || len(chunks.Items) > 0 {
		t.Errorf("%d chunks are left of it: %v", len(chunks.Items), err)
	}
	if err := c.Delete(t.Context(), first); err != nil { // who makes room can go on
		t.Fatal(err)
	}
	harness.Eventually(t, soon, poll, func() error {
		return harness.Gone(t.Context(), c, &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: first.Status.CheckpointRef.Name}})
	})
	third := captureOf(namespace, "third", big.Name)
	create(t, c, third)
	succeeded(t, c, third)
}

// TestNobodyFillsTheBackend: a quota counts requests, and captures that outlive theirs escape it. The manager counts them.
func TestNobodyFillsTheBackend(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area, "--capture-limit=2", "--capture-retention-min=1h").Start()
	tenant(t, c, namespace)
	create(t, c, configMap(namespace, "settings"))
	for _, name := range []string{"first", "second"} {
		r := captureOf(namespace, name, "settings")
		create(t, c, r)
		succeeded(t, c, r)
		if err := c.Delete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Delete(context.Background(), &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: request.KeeperName(r.UID)}})
		})
	}
	third := captureOf(namespace, "third", "settings")
	create(t, c, third)
	refusedFor(t, c, third, capturev1.ReasonOverBudget, "Namespace "+namespace+" keeps 2 captures of this kind, and the operator allows no more. "+
		"Those that outlive their request count; statecraft-captures list shows them. Delete some, or wait until some expire, and make another request.")
	create(t, c, snapshot(namespace, "missing")) // another kind has a limit of its own
	refusedFor(t, c, snapshot(namespace, "missing"), capturev1.ReasonNotFound, "PersistentVolumeClaim missing does not exist.")
}
