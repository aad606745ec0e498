package main

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/statecraft-dev/statecraft/internal/capture/leaks"
)

// storedBy asks a driver for all volumes and snapshots that it has, as far as it can list them.
func storedBy(ctx context.Context, endpoint string) ([]leaks.Stored, error) {
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials())) // a socket in the same pod
	if err != nil {
		return nil, fmt.Errorf("connect to driver: %w", err)
	}
	defer func() { _ = conn.Close() }()
	info, err := csi.NewIdentityClient(conn).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask driver for its name: %w", err)
	}
	driver := csi.NewControllerClient(conn)
	snapshots, err := listSnapshots(ctx, driver, info.GetName())
	if err != nil {
		return nil, err
	}
	volumes, err := listVolumes(ctx, driver, info.GetName())
	return append(snapshots, volumes...), err
}

func listSnapshots(ctx context.Context, driver csi.ControllerClient, name string) (found []leaks.Stored, err error) {
	for next := ""; ; {
		answer, err := driver.ListSnapshots(ctx, &csi.ListSnapshotsRequest{StartingToken: next})
		if status.Code(err) == codes.Unimplemented {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list snapshots of %s: %w", name, err)
		}
		for _, e := range answer.GetEntries() {
			s := leaks.Stored{Handle: leaks.Handle{Driver: name, Snapshot: true, ID: e.GetSnapshot().GetSnapshotId()}}
			if at := e.GetSnapshot().GetCreationTime(); at != nil {
				s.Created = at.AsTime()
			}
			found = append(found, s)
		}
		if next = answer.GetNextToken(); next == "" {
			return found, nil
		}
	}
}

func listVolumes(ctx context.Context, driver csi.ControllerClient, name string) (found []leaks.Stored, err error) {
	for next := ""; ; {
		answer, err := driver.ListVolumes(ctx, &csi.ListVolumesRequest{StartingToken: next})
		if status.Code(err) == codes.Unimplemented {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list volumes of %s: %w", name, err)
		}
		for _, e := range answer.GetEntries() {
			found = append(found, leaks.Stored{Handle: leaks.Handle{Driver: name, ID: e.GetVolume().GetVolumeId()}})
		}
		if next = answer.GetNextToken(); next == "" {
			return found, nil
		}
	}
}
