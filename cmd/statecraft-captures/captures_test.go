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
			{Kind: "VolumeRestoreRequest", Namespace: "shop", Name: "again", Phase: "Restoring", Created: now.Add(-time.Minute)},
			{Kind: "VolumeCaptureRequest", Namespace: "shop", Name: "data", Ready: "True", Phase: "Succeeded", Artifact: "VolumeSnapshotContent/c1", Size: &size, Created: now.Add(-time.Hour)},
			{Kind: "ManifestCaptureRequest", Namespace: "bank", Name: "all", Ready: "True", Phase: "Succeeded", Artifact: "ManifestCheckpoint/p1", Created: now.Add(-time.Hour)},
		},
		Keepers: []leaks.Keeper{{Name: "request-r9", UID: "k9", Expires: &soon}, {Name: "request-r1", UID: "k1"}},
		Artifacts: []leaks.Artifact{
			{Kind: leaks.Checkpoint, Name: "p1", Bytes: 3 << 20, Keepers: []types.UID{"k1"}},
			{Kind: leaks.Content, Name: "c9", Keepers: []types.UID{"k9"}, Created: now.Add(-48 * time.Hour)},
			{Kind: leaks.Chunk, Name: "x", Keepers: []types.UID{"k9"}},
		},
	}
	const all = `
NAMESPACE   REQUEST     READY    PHASE       ARTIFACT                   SIZE     AGE
bank        mcr/all     True     Succeeded   ManifestCheckpoint/p1      3Mi      60m
shop        vcr/data    True     Succeeded   VolumeSnapshotContent/c1   1Gi      60m
shop        vrr/again   <none>   Restoring   <none>                     <none>   60s

RETAINED                   KEEPER       EXPIRES IN   AGE
VolumeSnapshotContent/c9   request-r9   60m          2d
`
	const one = `
NAMESPACE   REQUEST   READY   PHASE       ARTIFACT                SIZE   AGE
bank        mcr/all   True    Succeeded   ManifestCheckpoint/p1   3Mi    60m
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
