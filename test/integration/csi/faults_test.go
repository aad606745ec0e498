package csi

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/csiproxy"
)

func TestAContentMadeDirectlyIsSnapshottedAndDeletedWithItsSnapshot(t *testing.T) {
	r := newRig(t)
	_, volume := r.claim("data", nil)
	before := r.snapshots(nil)
	content := r.content(volume)
	handle := r.ready(content)
	if diff := cmp.Diff([]string{handle}, r.snapshots(before)); diff != "" {
		t.Errorf("snapshots of the backend (-want +got):\n%s", diff)
	}
	r.delete(content)
	r.gone(content)
	if left := r.snapshots(before); len(left) > 0 {
		t.Errorf("snapshots %q outlived their content", left)
	}
}

func TestALostAnswerLeadsToOneSnapshot(t *testing.T) {
	r := newRig(t)
	_, volume := r.claim("data", nil)
	before := r.snapshots(nil)
	calls := r.csi.Proxy().Calls("CreateSnapshot")
	r.csi.Proxy().Lose("CreateSnapshot", codes.DeadlineExceeded, 1)
	handle := r.ready(r.content(volume))
	if diff := cmp.Diff([]string{handle}, r.snapshots(before)); diff != "" {
		t.Errorf("snapshots of the backend (-want +got):\n%s", diff)
	}
	if n := r.csi.Proxy().Calls("CreateSnapshot") - calls; n < 2 {
		t.Errorf("%d calls, want the lost one and another", n)
	}
}

func TestAFailingDriverIsAskedUntilItWorks(t *testing.T) {
	r := newRig(t)
	r.csi.Proxy().Fail("CreateVolume", codes.ResourceExhausted, 2)
	calls := r.csi.Proxy().Calls("CreateVolume")
	r.claim("data", nil)
	if n := r.csi.Proxy().Calls("CreateVolume") - calls; n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

func TestADeadDriverMakesNothingUntilItIsAlive(t *testing.T) {
	r := newRig(t)
	_, volume := r.claim("data", nil)
	before := r.snapshots(nil)
	r.csi.Proxy().Dead()
	t.Cleanup(func() {
		if err := r.csi.Proxy().Alive(); err != nil {
			t.Error(err)
		}
	})
	content := r.content(volume)
	if got := r.snapshots(before); len(got) > 0 {
		t.Errorf("a dead driver made %q", got)
	}
	if err := r.csi.Proxy().Alive(); err != nil {
		t.Fatal(err)
	}
	r.ready(content)
	r.claim("after", nil) // the provisioner has ended with its connection and is back
}

func TestAStoppedSidecarDoesNothingUntilItIsStarted(t *testing.T) {
	r := newRig(t)
	_, volume := r.claim("data", nil)
	calls := r.csi.Proxy().Calls("CreateSnapshot")
	if err := r.csi.StopSidecar(t.Context(), bed.SnapshotterSidecar); err != nil {
		t.Fatal(err)
	}
	content := r.content(volume)
	// Whatever would have called the driver had its chance: the provisioner, with more to do, has made a volume.
	r.claim("meanwhile", nil)
	if n := r.csi.Proxy().Calls("CreateSnapshot"); n != calls {
		t.Errorf("%d calls for snapshots while nobody can make them", n-calls)
	}
	if err := r.csi.StartSidecar(bed.SnapshotterSidecar); err != nil {
		t.Fatal(err)
	}
	r.ready(content)
}

func TestAnUndeletableSnapshotKeepsItsContent(t *testing.T) {
	r := newRig(t)
	_, volume := r.claim("data", nil)
	before := r.snapshots(nil)
	content := r.content(volume)
	handle := r.ready(content)
	calls := r.csi.Proxy().Calls("DeleteSnapshot")
	r.csi.Proxy().Fail("DeleteSnapshot", codes.Internal, csiproxy.Always)
	r.delete(content)
	r.eventually("two attempts", func(context.Context) (any, bool) {
		n := r.csi.Proxy().Calls("DeleteSnapshot") - calls
		return n, n >= 2
	})
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(content), content); err != nil {
		t.Errorf("the content is gone before its snapshot: %v", err)
	}
	if !slices.Contains(r.snapshots(before), handle) {
		t.Error("the snapshot is gone")
	}
	r.csi.Proxy().Clear()
	r.gone(content)
}
