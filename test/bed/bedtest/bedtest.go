// Package bedtest gives the tests of one binary a bed to share.
//
//	func TestMain(m *testing.M) { bedtest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		b := bedtest.ControlPlane(t)
//		namespace := bedtest.Namespace(t, b)
//		…
//	}
package bedtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/bed"
)

var shared struct {
	sync.Mutex
	managed bool // Main runs the tests and will stop the bed
	bed     *bed.Bed
	err     error
}

// Main runs the tests of a binary and stops the bed they shared. It does not return.
func Main(m *testing.M) {
	shared.managed = true
	code := m.Run()
	if shared.bed != nil {
		if err := shared.bed.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop bed:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// ControlPlane returns the bed of this test binary, a control plane without nodes. The first call starts it.
// Tests keep apart by Namespace and by the users they act as.
func ControlPlane(t testing.TB) *bed.Bed {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if !shared.managed {
		t.Fatal("bedtest: TestMain must call bedtest.Main, or the bed would never be stopped")
	}
	if shared.bed == nil && shared.err == nil {
		// Not the test's context: the bed outlives the test that happened to come first.
		shared.bed, shared.err = bed.Start(context.Background(), bed.ControlPlane)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.bed
}

// Namespace makes a namespace for one test and deletes it afterwards.
func Namespace(t testing.TB, b *bed.Bed) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := client.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{})
		if err != nil {
			t.Errorf("delete namespace of test: %v", err)
		}
	})
	return namespace.Name
}

// InstallCRDs applies the CustomResourceDefinitions in some directories and waits until they are served.
// Directories are relative to the test's own. Installing twice is harmless.
func InstallCRDs(t testing.TB, b *bed.Bed, dirs ...string) {
	t.Helper()
	if err := b.InstallCRDs(t.Context(), dirs...); err != nil {
		t.Fatal(err)
	}
}
