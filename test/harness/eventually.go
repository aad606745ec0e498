package harness

import (
	"context"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Eventually asks until the answer is nil, and fails the test with the last one if
// that takes longer than within.
func Eventually(t testing.TB, within, every time.Duration, ask func() error) {
	t.Helper()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	until := time.Now().Add(within)
	for {
		err := ask()
		if err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("still after %s: %v", within, err)
		}
		<-ticker.C
	}
}

// Within asks until the answer is nil, and claims that this takes no longer than a limit: on a busy machine, no
// longer than that and the time for which the machine stood still.
func Within(t testing.TB, limit, every time.Duration, ask func() error) {
	t.Helper()
	stall, began := StartStall(t), time.Now()
	Eventually(t, timeout.Wait, every, ask)
	if took, stalled := time.Since(began), stall.Lap(); took > limit+stalled {
		t.Errorf("it took %s, want at most %s; the machine stood still for %s of it", took, limit, stalled)
	}
}

// Consistently asks for a while and fails the test with the first answer that is not nil.
func Consistently(t testing.TB, during, every time.Duration, ask func() error) {
	t.Helper()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for until := time.Now().Add(during); time.Now().Before(until); <-ticker.C {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
}

// Gone says nil when the object is gone, or another has its name. One that is known by its name only is gone when
// nobody has that name.
func Gone(ctx context.Context, c client.Client, obj client.Object) error {
	there := obj.DeepCopyObject().(client.Object)
	err := c.Get(ctx, client.ObjectKeyFromObject(obj), there)
	switch {
	case apierrors.IsNotFound(err), err == nil && obj.GetUID() != "" && there.GetUID() != obj.GetUID():
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%T %s is still there", obj, obj.GetName())
}
