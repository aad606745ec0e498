package volumecapture

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/csiproxy"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func TestASnapshotTakesFiveWritesAndGoesWithItsRequest(t *testing.T) {
	r := newRig(t)
	claim, _ := r.claim("data")
	since := time.Now()
	q := r.newRequest("data", nil)
	r.create(q)
	r.ends(q, capturev1.ReasonCompleted)
	if s := q.Status; s.SnapshotHandle == "" || s.RestoreSize == nil || s.RestoreSize.IsZero() || s.Origin.ClaimUID != claim.UID || s.CompletionTimestamp == nil || s.ObservedGeneration != q.Generation {
		t.Errorf("the status does not say what was captured: %+v", s)
	}
	if _, err := os.Stat(r.csi.SnapshotFile(q.Status.SnapshotHandle)); err != nil {
		t.Errorf("the backend has no such snapshot: %v", err)
	}
	content := contentOf(q)
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(content), content); err != nil || content.UID != q.Status.ArtifactRef.UID {
		t.Errorf("the artifact is another: %v", err)
	}
	r.wrote(since, map[string]int{
		"create objectkeepers.capture.statecraft.dev":           1,
		"create volumesnapshotcontents.snapshot.storage.k8s.io": 1,
		statusWrites: 3,
	})
	r.delete(q)
	r.nothingLeft(q)
}

const statusWrites = "patch volumecapturerequests.capture.statecraft.dev/status"

// wrote compares what the manager wrote since for a capture, by the API server's own count.
// What the keeper's own machine writes is not the request's. A step that was decided for a volume which
// Kubernetes then changed costs two more writes of status: that it failed, and that it did not.
func (r rig) wrote(since time.Time, want map[string]int) {
	r.Helper()
	writes, err := r.bed.Writes(since, harness.User(area))
	if err != nil {
		r.Fatal(err)
	}
	writes = slices.DeleteFunc(writes, func(w bed.Write) bool { return w.Name == guard.RecordName("capture") }) // of the policies, once
	got := bed.CountWrites(bed.WithoutElections(writes))
	for what := range got {
		switch what {
		case "patch objectkeepers.capture.statecraft.dev/status", "create events", "create events.events.k8s.io", "patch events.events.k8s.io":
			delete(got, what)
		}
	}
	for line := range strings.Lines(r.manager.Log()) {
		if strings.Contains(line, `"class":"Changed"`) && strings.Contains(line, `"namespace":"`+r.namespace+`"`) {
			want[statusWrites] += 2
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestALostAnswerMakesOneSnapshot(t *testing.T) {
	r := newRig(t)
	r.claim("data")
	r.csi.Proxy().Lose("CreateSnapshot", codes.DeadlineExceeded, 1)
	q := r.newRequest("data", nil)
	r.create(q)
	r.ends(q, capturev1.ReasonCompleted)
	if diff := cmp.Diff([]string{q.Status.SnapshotHandle}, r.snapshots()); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
	r.delete(q)
	r.nothingLeft(q)
}

func TestADriverThatFailsFiveTimesIsAwaited(t *testing.T) {
	r := newRig(t)
	r.claim("data")
	r.csi.Proxy().Fail("CreateSnapshot", codes.ResourceExhausted, 5)
	q := r.newRequest("data", nil)
	r.create(q)
	r.ends(q, capturev1.ReasonCompleted)
	r.delete(q)
	r.nothingLeft(q)
}

func TestADriverThatFailsEndsARequestThatDoesNotWait(t *testing.T) {
	r := newRig(t)
	r.claim("data")
	r.csi.Proxy().Fail("CreateSnapshot", codes.ResourceExhausted, csiproxy.Always)
	q := r.newRequest("data", func(s *capturev1.VolumeCaptureRequestSpec) { s.OnTransientError = capturev1.FailAtOnce })
	r.create(q)
	r.ends(q, capturev1.ReasonDriverError)
	r.csi.Proxy().Clear()
	r.gone(contentOf(q))
	r.delete(q)
	r.nothingLeft(q)
}

func TestADriverThatFailsForEverLeavesNothingOnceItIsBack(t *testing.T) {
	for name, code := range map[string]codes.Code{"surely": codes.ResourceExhausted, "perhaps": codes.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.claim("data")
			r.csi.Proxy().Lose("CreateSnapshot", code, csiproxy.Always)
			q := r.newRequest("data", func(s *capturev1.VolumeCaptureRequestSpec) { s.DeadlineSeconds = 10 })
			r.create(q)
			r.ends(q, capturev1.ReasonDeadlineExceeded)
			r.csi.Proxy().Clear()
			r.gone(contentOf(q))
			r.delete(q)
			r.nothingLeft(q)
		})
	}
}

// deletions is how many requests are deleted while their snapshot is being made.
const deletions = 10

func TestDeletingARequestWhileItsSnapshotIsMadeLeavesNothing(t *testing.T) {
	r := newRig(t)
	r.claim("data")
	var requests []*capturev1.VolumeCaptureRequest
	for i := range deletions {
		calls := r.csi.Proxy().Calls("CreateSnapshot")
		release := r.csi.Proxy().Hold("CreateSnapshot")
		q := r.newRequest(fmt.Sprintf("data-%d", i), func(s *capturev1.VolumeCaptureRequestSpec) { s.Target.Name = "data" })
		r.create(q)
		requests = append(requests, q)
		r.eventually(func() error {
			if r.csi.Proxy().Calls("CreateSnapshot") == calls {
				return errNotYet
			}
			return nil
		})
		r.delete(q)
		r.gone(keeperOf(q))
		r.eventually(func() error { // garbage collection has come by
			content := contentOf(q)
			err := r.client.Get(t.Context(), client.ObjectKeyFromObject(content), content)
			if client.IgnoreNotFound(err) != nil || err == nil && content.DeletionTimestamp == nil {
				return errNotYet
			}
			return nil
		})
		release()
	}
	r.nothingLeft(requests...)
}

// fresh is how many claims are made right before their requests.
const fresh = 50

func TestAClaimThatWasMadeAMomentAgoIsCaptured(t *testing.T) {
	r := newRig(t)
	var g errgroup.Group
	requests := make([]*capturev1.VolumeCaptureRequest, fresh)
	for i := range fresh {
		name := fmt.Sprintf("data-%d", i)
		claim := r.newClaim(name)
		requests[i] = r.newRequest(name, nil)
		g.Go(func() error {
			if err := r.client.Create(t.Context(), claim); err != nil {
				return err
			}
			return r.client.Create(t.Context(), requests[i])
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, q := range requests {
		r.ends(q, capturev1.ReasonCompleted)
	}
	if n := len(r.snapshots()); n != fresh {
		t.Errorf("%d snapshots of %d claims", n, fresh)
	}
	for _, q := range requests {
		r.delete(q)
	}
	r.nothingLeft(requests...)
}
