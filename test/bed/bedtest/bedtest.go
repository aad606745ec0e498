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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// shared is a bed that the tests of this binary use together.
type shared struct {
	once sync.Once
	bed  *bed.Bed
	err  error
}

var (
	controlPlane, withNodes shared
	managed                 bool // Main runs the tests and will stop the beds
)

// Main runs the tests of a binary and stops the beds they shared. It does not return.
func Main(m *testing.M) {
	managed = true
	code := m.Run()
	for _, s := range []*shared{&controlPlane, &withNodes} {
		if s.bed == nil {
			continue
		}
		if err := s.bed.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop bed:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func (s *shared) get(t testing.TB, parts ...bed.Part) *bed.Bed {
	t.Helper()
	if !managed {
		t.Fatal("bedtest: TestMain must call bedtest.Main, or the bed would never be stopped")
	}
	s.once.Do(func() {
		// Not the test's context: the bed outlives the test that happened to come first.
		s.bed, s.err = bed.Start(context.Background(), parts...)
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.bed
}

// ControlPlane returns the control plane, without nodes, that the tests of this binary share. The first call
// starts it, and decides what else it has or lacks. Tests keep apart by Namespace and by the users they act as.
func ControlPlane(t testing.TB, parts ...bed.Part) *bed.Bed {
	t.Helper()
	return controlPlane.get(t, append([]bed.Part{bed.ControlPlane}, parts...)...)
}

// Nodes returns the bed with at least n nodes that the tests of this binary share. The first call starts it and
// decides how many there are, and what else it has. It needs root and waits while another process has a bed with
// nodes.
func Nodes(t testing.TB, n int, parts ...bed.Part) *bed.Bed {
	t.Helper()
	b := withNodes.get(t, append([]bed.Part{bed.ControlPlane, bed.Nodes(n)}, parts...)...)
	if has := len(b.Nodes()); has < n {
		t.Fatalf("bedtest: the first test asked for %d nodes, this one for %d: ask for the most first", has, n)
	}
	return b
}

// Namespace makes a namespace for one test and deletes it afterwards, unless the test has.
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
		if err != nil && !apierrors.IsNotFound(err) {
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
