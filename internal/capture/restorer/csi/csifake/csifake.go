// Package csifake is a CSI driver in memory, for drills; tests hold it to what the real one answers.
package csifake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
)

// Driver is a driver in memory. It answers as the real one does: the same plan has the same
// volume, and a volume of that name from something else is refused.
type Driver struct {
	mu        sync.Mutex
	snapshots map[string]bool
	volumes   map[string]fakeVolume // by name
	made      int                   // all that ever were

	// Fail, if set, is asked before a volume is made.
	Fail func(p restorer.Plan) error
	// Forgets says that the driver answers without saying what a volume was made from.
	Forgets bool
}

type fakeVolume struct {
	id, snapshot string
	bytes        int64
}

// New is a driver that has these snapshots.
func New(snapshots ...string) *Driver {
	f := &Driver{snapshots: map[string]bool{}, volumes: map[string]fakeVolume{}}
	for _, s := range snapshots {
		f.snapshots[s] = true
	}
	return f
}

// Create implements csi.Driver.
func (f *Driver) Create(_ context.Context, p restorer.Plan, _ map[string]string) (csi.Made, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Fail != nil {
		if err := f.Fail(p); err != nil {
			return csi.Made{}, err
		}
	}
	v, there := f.volumes[p.Name]
	switch {
	case there && (v.bytes < p.Bytes || p.Snapshot != "" && v.snapshot != p.Snapshot):
		return csi.Made{}, status.Errorf(codes.AlreadyExists, "volume %s is another one", p.Name)
	case !there && p.Snapshot != "" && !f.snapshots[p.Snapshot]:
		return csi.Made{}, status.Errorf(codes.NotFound, "there is no snapshot %s", p.Snapshot)
	case !there:
		f.made++
		v = fakeVolume{id: fmt.Sprintf("volume-%d", f.made), snapshot: p.Snapshot, bytes: p.Bytes}
		f.volumes[p.Name] = v
	}
	made := csi.Made{Volume: restorer.Volume{ID: v.id, Capacity: v.bytes}, Snapshot: v.snapshot}
	if f.Forgets {
		made.Snapshot = ""
	}
	return made, nil
}

// Delete implements csi.Driver.
func (f *Driver) Delete(_ context.Context, id string, _ map[string]string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.volumes, func(_ string, v fakeVolume) bool { return v.id == id })
	return nil
}

// Volumes are the IDs of all volumes there are.
func (f *Driver) Volumes() (ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.volumes {
		ids = append(ids, v.id)
	}
	slices.Sort(ids)
	return ids
}

// Forget removes a snapshot.
func (f *Driver) Forget(snapshot string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.snapshots, snapshot)
}
