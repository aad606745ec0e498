package act

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
)

// kept is how much is held of captures.
func (d *CaptureBuffer) kept() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("%d buffers, %d slots", len(d.buffers), len(d.slots))
}

const nothingKept = "0 buffers, 0 slots"

func TestNothingIsKeptOfACaptureThatIsGone(t *testing.T) {
	a := newCapture(&shelf{holds: map[string]int{"configmaps": 1}})
	if err := reading(t, a, "100"); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(someRequest)
	if kept := a.Buffer.kept(); kept != "1 buffers, 1 slots" {
		t.Fatal(kept)
	}
	a.Work.Forget(key)
	a.Buffer.Drop(key)
	if kept := a.Buffer.kept(); kept != nothingKept {
		t.Error(kept)
	}
}

// TestACaptureThatGoesWhileItIsReadLeavesNothing: the request is gone while its last page is on the way, which comes.
func TestACaptureThatGoesWhileItIsReadLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := make(chan struct{})
		s := &shelf{holds: map[string]int{"configmaps": 1}, fail: func(string, ListOptions) error { <-page; return nil }}
		a := newCapture(s)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- a.Work.Start(ctx) }()
		synctest.Wait()
		if _, err := a.Act(ctx, someRequest, manifestcapture.StartReading{Moment: "100"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		key := client.ObjectKeyFromObject(someRequest)
		a.Work.Forget(key)
		a.Buffer.Drop(key)
		close(page)
		synctest.Wait()
		if kept := a.Buffer.kept(); kept != nothingKept {
			t.Error(kept)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestClientsOfNamespacesAreFew: namespaces come and go, and each has an account of its own.
func TestClientsOfNamespacesAreFew(t *testing.T) {
	s, err := NewServer(&rest.Config{Host: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * mostAccounts {
		if _, err := s.in(fmt.Sprint("namespace-", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.as) > mostAccounts {
		t.Errorf("%d clients are kept", len(s.as))
	}
}
