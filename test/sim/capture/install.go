package capture

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// install installs the area, and lets keepers follow ConfigMaps.
func install(t testing.TB, b *bed.Bed) {
	t.Helper()
	harness.Install(t, b, area)
	c, err := client.New(b.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "follow-configmaps", Labels: map[string]string{"capture.statecraft.dev/followable": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}}},
	})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	as, err := client.New(b.ConfigFor(harness.User(area)), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, rightsWithin, rightsPoll, func() error { return as.List(t.Context(), &corev1.ConfigMapList{}) })
}

// The aggregated role is made by a controller.
const (
	rightsWithin = 30 * time.Second
	rightsPoll   = 50 * time.Millisecond
)
