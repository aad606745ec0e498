package csi

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	spec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
)

var plan = restorer.Plan{Driver: "disks.example.com", Name: "restore-r1", Snapshot: "snap-1", Bytes: 1 << 20}

// server is a driver behind a socket, which remembers what it was asked.
type server struct {
	spec.UnimplementedIdentityServer
	spec.UnimplementedControllerServer
	can    []spec.ControllerServiceCapability_RPC_Type
	asked  *spec.CreateVolumeRequest
	answer *spec.Volume
	slow   bool
}

func (s *server) GetPluginInfo(context.Context, *spec.GetPluginInfoRequest) (*spec.GetPluginInfoResponse, error) {
	return &spec.GetPluginInfoResponse{Name: "disks.example.com"}, nil
}

func (s *server) GetPluginCapabilities(context.Context, *spec.GetPluginCapabilitiesRequest) (*spec.GetPluginCapabilitiesResponse, error) {
	return &spec.GetPluginCapabilitiesResponse{Capabilities: []*spec.PluginCapability{{Type: &spec.PluginCapability_Service_{
		Service: &spec.PluginCapability_Service{Type: spec.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS},
	}}}}, nil
}

func (s *server) ControllerGetCapabilities(context.Context, *spec.ControllerGetCapabilitiesRequest) (*spec.ControllerGetCapabilitiesResponse, error) {
	answer := &spec.ControllerGetCapabilitiesResponse{}
	for _, one := range s.can {
		answer.Capabilities = append(answer.Capabilities, &spec.ControllerServiceCapability{
			Type: &spec.ControllerServiceCapability_Rpc{Rpc: &spec.ControllerServiceCapability_RPC{Type: one}},
		})
	}
	return answer, nil
}

func (s *server) CreateVolume(ctx context.Context, r *spec.CreateVolumeRequest) (*spec.CreateVolumeResponse, error) {
	if s.slow {
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	s.asked = r
	return &spec.CreateVolumeResponse{Volume: s.answer}, nil
}

func (s *server) DeleteVolume(context.Context, *spec.DeleteVolumeRequest) (*spec.DeleteVolumeResponse, error) {
	return nil, status.Error(codes.Internal, "no")
}

func serve(t *testing.T, s *server) string {
	t.Helper()
	address := filepath.Join(t.TempDir(), "csi.sock")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", address)
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	spec.RegisterIdentityServer(g, s)
	spec.RegisterControllerServer(g, s)
	go func() { _ = g.Serve(listener) }() // it ends with the test
	t.Cleanup(g.Stop)
	return address
}

var able = []spec.ControllerServiceCapability_RPC_Type{
	spec.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME, spec.ControllerServiceCapability_RPC_CREATE_DELETE_SNAPSHOT,
}

func TestTheDriverIsAskedForWhatWasPlanned(t *testing.T) {
	snapshot := &spec.VolumeContentSource{Type: &spec.VolumeContentSource_Snapshot{Snapshot: &spec.VolumeContentSource_SnapshotSource{SnapshotId: "snap-1"}}}
	zone := &spec.Topology{Segments: map[string]string{"zone": "1"}}
	s := &server{can: able, answer: &spec.Volume{VolumeId: "v1", CapacityBytes: 2 << 20, ContentSource: snapshot, AccessibleTopology: []*spec.Topology{zone}}}
	c, err := Dial(t.Context(), serve(t, s), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	p := plan
	p.Parameters, p.FSType, p.MountFlags = map[string]string{"tier": "gold"}, "xfs", []string{"noatime"}
	p.AccessModes, p.Topology = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, []map[string]string{{"zone": "1"}}
	v, err := Restore(t.Context(), c, p, map[string]string{"key": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(restorer.Volume{ID: "v1", Capacity: 2 << 20, Topology: []map[string]string{{"zone": "1"}}}, v); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	want := &spec.CreateVolumeRequest{
		Name: "restore-r1", CapacityRange: &spec.CapacityRange{RequiredBytes: 1 << 20}, VolumeContentSource: snapshot,
		Parameters: map[string]string{"tier": "gold"}, Secrets: map[string]string{"key": "secret"},
		VolumeCapabilities: []*spec.VolumeCapability{{
			AccessType: &spec.VolumeCapability_Mount{Mount: &spec.VolumeCapability_MountVolume{FsType: "xfs", MountFlags: []string{"noatime"}}},
			AccessMode: &spec.VolumeCapability_AccessMode{Mode: spec.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
		}},
		AccessibilityRequirements: &spec.TopologyRequirement{Requisite: []*spec.Topology{zone}, Preferred: []*spec.Topology{zone}},
	}
	if diff := cmp.Diff(want, s.asked, protocmp.Transform()); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
}

func TestADriverWithoutSnapshotsIsRefused(t *testing.T) {
	if _, err := Dial(t.Context(), serve(t, &server{can: able[:1]}), time.Second); err == nil {
		t.Error("it was taken")
	}
}

func TestASlowDriverHasNotRefused(t *testing.T) {
	c, err := Dial(t.Context(), serve(t, &server{can: able, slow: true}), 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Create(t.Context(), plan, nil); err == nil || Refused(err) {
		t.Errorf("a slow answer is taken for a no: %v", err)
	}
	if err := c.Delete(t.Context(), "v1", nil); err == nil {
		t.Error("an error of the driver is lost")
	}
}

func TestAccessModes(t *testing.T) {
	for mode, want := range map[corev1.PersistentVolumeAccessMode][2]spec.VolumeCapability_AccessMode_Mode{
		corev1.ReadWriteOnce:    {spec.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, spec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
		corev1.ReadWriteOncePod: {spec.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, spec.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER},
		corev1.ReadOnlyMany:     {spec.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY, spec.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY},
		corev1.ReadWriteMany:    {spec.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER, spec.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER},
	} {
		got := [2]spec.VolumeCapability_AccessMode_Mode{(&Client{}).mode(mode), (&Client{single: true}).mode(mode)}
		if got != want {
			t.Errorf("%s: %v, want %v", mode, got, want)
		}
	}
}
