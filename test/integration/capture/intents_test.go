package capture

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestTheRestorerWritesItsIntentsOnly: other ConfigMaps of the namespace are the driver's, or those of another restorer.
func TestTheRestorerWritesItsIntentsOnly(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	harness.Grant(t, c, restorerAccount, "", rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
		rbacv1.PolicyRule{Verbs: []string{"provision"}, APIGroups: []string{"storage.k8s.io"}, Resources: []string{"csidrivers"}, ResourceNames: []string{"ours.example.com"}})
	as := harness.ClientAs(t, b, c, restorerAccount)
	of := func(name, driver string) *corev1.ConfigMap {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if driver != "" {
			cm.Labels = map[string]string{restorer.IntentLabel: driver}
		}
		return cm
	}
	ours, theirs, drivers := of("ours", "ours.example.com"), of("theirs", "theirs.example.com"), of("drivers", "")
	for _, cm := range []*corev1.ConfigMap{ours, theirs, drivers} {
		create(t, c, cm)
	}
	patch := func(cm *corev1.ConfigMap, text string) error {
		return as.Patch(t.Context(), cm.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)), client.DryRunAll)
	}
	remove := func(cm *corev1.ConfigMap) error { return as.Delete(t.Context(), cm.DeepCopy(), client.DryRunAll) }
	const data, label = `{"data":{"a":"b"}}`, `{"metadata":{"labels":{"` + restorer.IntentLabel + `":"ours.example.com"}}}`
	for name, try := range map[string]struct {
		do  func() error
		may bool
	}{
		"makes an intent":                        {func() error { return harness.Accepted(t, as, of("new", "ours.example.com")) }, true},
		"makes one of another driver":            {func() error { return harness.Accepted(t, as, of("new", "theirs.example.com")) }, false},
		"makes another ConfigMap":                {func() error { return harness.Accepted(t, as, of("new", "")) }, false},
		"changes its intent":                     {func() error { return patch(ours, data) }, true},
		"changes one of another driver":          {func() error { return patch(theirs, data) }, false},
		"changes another ConfigMap":              {func() error { return patch(drivers, data) }, false},
		"labels another ConfigMap, to delete it": {func() error { return patch(drivers, label) }, false},
		"takes the intent of another driver":     {func() error { return patch(theirs, label) }, false},
		"deletes its intent":                     {func() error { return remove(ours) }, true},
		"deletes one of another driver":          {func() error { return remove(theirs) }, false},
		"deletes another ConfigMap":              {func() error { return remove(drivers) }, false},
	} {
		harness.Eventually(t, soon, poll, func() error {
			err := try.do()
			if !try.may {
				err = forbidden(err, "and no other ConfigMaps")
			}
			if err != nil {
				return fmt.Errorf("a restorer that %s: %w", name, err)
			}
			return nil
		})
	}
}
