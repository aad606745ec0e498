package capture

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
	"github.com/statecraft-dev/statecraft/test/product"
)

// TestKeysAreRewrapped: another key becomes active, and the one before can go. Nobody else changes a checkpoint, and nothing of
// it but the key.
func TestKeysAreRewrapped(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	manager := product.NewManager(t, b, area)
	manager.Start()
	keys(t, c, "k1")
	tenant(t, c, namespace, "statecraft-capture-tenant-secrets")
	create(t, c, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "password"}, StringData: map[string]string{"password": captureCanary}})
	r := mcr(namespace, "nightly", secretSpec())
	create(t, c, r)
	succeeded(t, c, r)
	point := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: r.Status.CheckpointRef.Name}}

	keys(t, c, "k2", "k1")
	manager.Stop() // it looks when it starts, and every few minutes
	manager.Start()
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(point), point); err != nil {
			return err
		}
		if e := point.Spec.Encryption; e.KeyID != "k2" || e.BoundTo != "k1" {
			return fmt.Errorf("it is wrapped with %+v", e)
		}
		return nil
	})
	keys(t, c, "k2")
	if _, objects, err := bulk.Captured(t.Context(), c, r); err != nil || len(objects) != 1 {
		t.Errorf("without the old key: %d objects, %v", len(objects), err)
	}

	everything := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	harness.Grant(t, c, "operator", "", everything)
	operator := harness.ClientAs(t, b, c, "operator")
	for words, patch := range map[string]string{
		"only the manager of area capture changes checkpoints": `{"spec":{"encryption":{"keyID":"k9"}}}`,
		"": `{"metadata":{"labels":{"team":"shop"}}}`,
	} {
		harness.Eventually(t, soon, poll, func() error {
			err := operator.Patch(t.Context(), point.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
			if words == "" {
				return err
			}
			return forbidden(err, words)
		})
	}
	for words, patch := range map[string]string{
		"a checkpoint cannot be changed": `{"spec":{"objects":7}}`,
		"chunks stay bound to the key":   `{"spec":{"encryption":{"boundTo":"k9"}}}`,
	} {
		err := c.Patch(t.Context(), point.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", patch, err)
		}
	}
}
