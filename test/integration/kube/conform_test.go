package kube

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/capture/capturetest"
	"github.com/statecraft-dev/statecraft/internal/kube/storetest"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func TestStatusStore(t *testing.T) {
	b := lamps(t)
	storetest.Conform(t, storetest.Lamps(newClient(t, b.Config()), bedtest.Namespace(t, b)))
}

func TestAnnotationStore(t *testing.T) {
	b := lamps(t)
	storetest.Conform(t, storetest.Pods(newClient(t, b.Config()), podNamespace(t, b)))
}

// podNamespace is a namespace that takes Pods: its default account exists.
func podNamespace(t *testing.T, b *bed.Bed) string {
	t.Helper()
	c, account := newClient(t, b.Config()), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: bedtest.Namespace(t, b), Name: "default"}}
	harness.Eventually(t, soon, poll, func() error { return c.Get(t.Context(), client.ObjectKeyFromObject(account), account) })
	return account.Namespace
}

func TestRestoreStore(t *testing.T) {
	b := lamps(t)
	bedtest.InstallCRDs(t, b, filepath.Join(harness.Root(t), "config", "crd", "capture")) // a restore may have a request
	storetest.Conform(t, capturetest.Restores(newClient(t, b.Config()), bedtest.Namespace(t, b)))
}
