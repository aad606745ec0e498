package act

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// kept is how much is held of captures.
func (d *CaptureBuffer) kept() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("%d buffers, %d results, %d slots", len(d.buffers), len(d.results), len(d.slots))
}

const nothingKept = "0 buffers, 0 results, 0 slots"

func TestNothingIsKeptOfACaptureThatIsGone(t *testing.T) {
	a := newCapture(&shelf{holds: map[string]int{"configmaps": 1}})
	if err := reading(t, a, "100"); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(someRequest)
	if kept := a.Buffer.kept(); kept != "1 buffers, 1 results, 1 slots" {
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

// TestALateResultIsNotKept: work that was forgotten may end all the same.
func TestALateResultIsNotKept(t *testing.T) {
	key := read.Key{Namespace: "shop", Name: "before"}
	forgotten, forget := context.WithCancel(t.Context())
	forget()
	d := NewCaptureBuffer(false)
	d.publish(forgotten, key, manifestcapture.Result{Task: "read"})
	a := &ManifestRestore{Work: &kube.Worker{}}
	a.keep(forgotten, key, found{"restore", &manifestrestore.Report{}})
	if kept := d.kept(); kept != nothingKept || len(a.reports) != 0 {
		t.Errorf("%s, reports %v", kept, a.reports)
	}
	d.publish(t.Context(), key, manifestcapture.Result{Task: "read"})
	a.keep(t.Context(), key, found{"restore", &manifestrestore.Report{}})
	if d.Result(key).Task != "read" || a.Report(key, "restore") == nil {
		t.Error("a result in time is not kept")
	}
	a.AfterPass(key, &capturev1.ManifestRestoreRequest{}, false)
	if len(a.reports) != 0 {
		t.Errorf("of a restore that is gone %v is kept", a.reports)
	}
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
