package main

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/capture/leaks"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestTables(t *testing.T) {
	size, soon := resource.MustParse("1Gi"), now.Add(time.Hour)
	inv := leaks.Inventory{
		Requests: []leaks.Request{
			{Kind: "VolumeRestoreRequest", Namespace: "shop", Name: "again", Phase: "Restoring", What: "claim data", Created: now.Add(-time.Minute)},
			{Kind: "VolumeCaptureRequest", Namespace: "shop", Name: "data", Ready: "True", Phase: "Succeeded", What: "claim data", Artifact: "VolumeSnapshotContent/c1", Size: &size, Created: now.Add(-time.Hour)},
			{Kind: "ManifestCaptureRequest", Namespace: "bank", Name: "all", Ready: "True", Phase: "Succeeded", What: "12 objects", Artifact: "ManifestCheckpoint/p1", Created: now.Add(-time.Hour)},
		},
		Keepers: []leaks.Keeper{
			{Name: "request-r9", UID: "k9", Kind: "VolumeCaptureRequest", Of: leaks.Name{Namespace: "lost", Name: "nightly"}, Expires: &soon},
			{Name: "request-r8", UID: "k8", Kind: "ManifestCaptureRequest", Of: leaks.Name{Namespace: "lost", Name: "all"}, Expires: &soon},
			{Name: "request-r7", UID: "k7", Kind: "VolumeCaptureRequest", Of: leaks.Name{Namespace: "lost", Name: "moved"}, Expires: &soon},
			{Name: "request-r1", UID: "k1"},
		},
		Artifacts: []leaks.Artifact{
			{Kind: leaks.Checkpoint, Name: "p1", Bytes: 3 << 20, Keepers: []types.UID{"k1"}},
			{Kind: leaks.Content, Name: "c9", What: "claim data", Size: &size, Keepers: []types.UID{"k9"}, Created: now.Add(-48 * time.Hour)},
			{Kind: leaks.Checkpoint, Name: "p8", What: "9 objects, volumes of data log", Size: &size, Keepers: []types.UID{"k8"}, Created: now.Add(-48 * time.Hour)},
			{Kind: leaks.Holder, Name: "detached-r7", Request: "r7", Keepers: []types.UID{"k7"}, Created: now.Add(-48 * time.Hour)},
			{Kind: leaks.Volume, Name: "pv-7", What: "claim log", Request: "r7", Size: &size, Created: now.Add(-72 * time.Hour)},
			{Kind: leaks.Chunk, Name: "x", Keepers: []types.UID{"k9"}},
		},
	}
	const all = `
NAMESPACE   REQUEST     READY    PHASE       WHAT         SIZE     AGE
bank        mcr/all     True     Succeeded   12 objects   3Mi      60m
shop        vcr/data    True     Succeeded   claim data   1Gi      60m
shop        vrr/again   <none>   Restoring   claim data   <none>   60s

NAMESPACE   RETAINED OF   WHAT                             SIZE   EXPIRES IN   AGE   RESTORE WITH SOURCE
lost        mcr/all       9 objects, volumes of data log   1Gi    60m          2d    checkpoint: p8
lost        vcr/moved     claim log                        1Gi    60m          3d    persistentVolume: pv-7
lost        vcr/nightly   claim data                       1Gi    60m          2d    volumeSnapshotContent: c9
`
	const one = `
NAMESPACE   REQUEST   READY   PHASE       WHAT         SIZE   AGE
bank        mcr/all   True    Succeeded   12 objects   3Mi    60m
`
	for namespace, want := range map[string]string{"": all, "bank": one} {
		var out strings.Builder
		if err := printRequests(&out, inv, namespace, now); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), out.String()); diff != "" {
			t.Error(diff)
		}
	}
	var out strings.Builder
	found := []leaks.Leak{{Kind: leaks.Content, Name: "c1", Reason: leaks.NoKeeper, Since: now.Add(-time.Hour), Message: "its keeper is gone"}}
	if err := printLeaks(&out, found, now); err != nil {
		t.Fatal(err)
	}
	const lost = `
KIND                    NAMESPACE   NAME   REASON     AGE   MESSAGE
VolumeSnapshotContent   <none>      c1     NoKeeper   60m   its keeper is gone
`
	if diff := cmp.Diff(strings.TrimPrefix(lost, "\n"), out.String()); diff != "" {
		t.Error(diff)
	}
}

// disks is a driver that lists snapshots in two pages, and no volumes.
type disks struct {
	csi.UnimplementedControllerServer
	csi.UnimplementedIdentityServer
	broken bool
}

func (disks) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: "disks"}, nil
}

func (d disks) ListSnapshots(_ context.Context, r *csi.ListSnapshotsRequest) (*csi.ListSnapshotsResponse, error) {
	if d.broken {
		return nil, status.Error(codes.Internal, "no list today")
	}
	snapshot := &csi.Snapshot{SnapshotId: "s" + r.StartingToken, CreationTime: timestamppb.New(now)}
	answer := &csi.ListSnapshotsResponse{Entries: []*csi.ListSnapshotsResponse_Entry{{Snapshot: snapshot}}}
	if r.StartingToken == "" {
		answer.NextToken = "2"
	}
	return answer, nil
}

func TestADriverIsAskedForAllPages(t *testing.T) {
	for _, broken := range []bool{false, true} {
		socket := filepath.Join(t.TempDir(), "csi.sock")
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer()
		driver := disks{broken: broken}
		csi.RegisterIdentityServer(server, driver)
		csi.RegisterControllerServer(server, driver)
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(server.Stop)
		got, err := storedBy(t.Context(), "unix://"+socket)
		if broken {
			if err == nil {
				t.Error("a driver that does not answer seems to have nothing")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want := []leaks.Stored{
			{Handle: leaks.Handle{Driver: "disks", Snapshot: true, ID: "s"}, Created: now},
			{Handle: leaks.Handle{Driver: "disks", Snapshot: true, ID: "s2"}, Created: now},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestUsage(t *testing.T) {
	if err := run(t.Context(), nil, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "list|leaks") {
		t.Errorf("error %v", err)
	}
}
