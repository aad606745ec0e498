package bed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/statecraft-dev/statecraft/test/bed/csiproxy"
	"github.com/statecraft-dev/statecraft/test/bed/internal/filelock"
	"github.com/statecraft-dev/statecraft/test/bed/internal/loop"
	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// CSI is storage with real snapshots: a CSI driver, the sidecars that call it on behalf of claims and snapshots, and
// between them a proxy that makes faults. Without nodes the driver is a plain process and volumes can be made,
// snapshotted, cloned and restored, but not mounted. With nodes it runs on the first of them, and pods there mount
// its volumes.
var CSI = Part{
	name:    "CSI",
	built:   []string{parts.HostPath, parts.Provisioner, parts.Snapshotter},
	prepare: prepareCSI,
	start:   startCSI,
}

// DriverName is the name of the CSI driver in CSIDriver, StorageClass and VolumeSnapshotClass objects.
const DriverName = "hostpath.csi.k8s.io"

// CSIDriver is the storage of a bed that was started with CSI.
type CSIDriver struct {
	bed      *Bed
	proxy    *csiproxy.Proxy
	sidecars *process.Set
}

// CSI is the storage of the bed; nil if it was started without.
func (b *Bed) CSI() *CSIDriver { return b.csi }

// Proxy is what stands between the driver and whoever calls it: faults are made there.
func (c *CSIDriver) Proxy() *csiproxy.Proxy { return c.proxy }

// Socket is the path of the socket on which a further sidecar reaches the driver, through the proxy.
func (c *CSIDriver) Socket() string { return c.bed.path("csi", "csi.sock") }

func (c *CSIDriver) driverSocket() string { return c.bed.path("csi", "driver.sock") }

// backend is the directory of the driver's volumes, snapshots and memory.
func (c *CSIDriver) backend() string { return c.bed.path("csi", loop.Volumes) }

// maxSocketPath is what the kernel takes, without the byte that ends it.
const maxSocketPath = 107

// ErrLongPath says that the bed's directory is too deep for the sockets of storage.
var ErrLongPath = fmt.Errorf("path of a socket is longer than %d bytes: give the bed a shorter directory", maxSocketPath)

func prepareCSI(ctx context.Context, b *Bed) error {
	b.csi = &CSIDriver{bed: b, sidecars: process.NewSet(b.path("log"))}
	if socket := b.csi.driverSocket(); len(socket) > maxSocketPath {
		return fmt.Errorf("%s: %w", socket, ErrLongPath)
	}
	// The lock tells others that the loop devices of these volumes are in use.
	lock, err := filelock.Try(b.path("csi", loop.Lock))
	if err != nil {
		return err
	}
	b.onStop(func(context.Context) error { return lock.Unlock() })
	if err := os.MkdirAll(b.csi.backend(), 0o755); err != nil {
		return fmt.Errorf("make directory of volumes: %w", err)
	}
	if os.Geteuid() != 0 {
		return nil // loop devices are root's
	}
	b.onStop(func(ctx context.Context) error { return loop.DetachBelow(ctx, b.csi.backend()) })
	return loop.DetachLeftovers(ctx)
}

func startCSI(ctx context.Context, b *Bed) error {
	c := b.csi
	if len(b.nodes) == 0 {
		if err := c.AddSidecar(CSIDaemon, c.driverProgram(), c.driverFlags("host")...); err != nil {
			return err
		}
	}
	proxy, err := csiproxy.Start(c.Socket(), c.driverSocket())
	if err != nil {
		return err
	}
	c.proxy = proxy
	b.onStop(func(context.Context) error { return proxy.Close() })
	err = b.await(ctx, "the CSI driver", func(context.Context) (bool, error) {
		connection, err := net.Dial("unix", c.driverSocket())
		if err != nil {
			return false, errors.Join(err, errors.New(process.Tail(b.Log(CSIDaemon))))
		}
		return true, connection.Close()
	})
	if err != nil {
		return err
	}
	if err := b.InstallCRDs(ctx, b.programs[parts.Snapshotter]); err != nil {
		return err
	}
	if err := c.createObjects(ctx); err != nil {
		return err
	}
	if len(b.nodes) > 0 {
		if err := c.register(ctx); err != nil {
			return err
		}
	}
	return c.startSidecars()
}

func (c *CSIDriver) driverProgram() string { return c.bed.program(parts.HostPath, "hostpathplugin") }

func (c *CSIDriver) driverFlags(node string) []string {
	return []string{
		"--drivername=" + DriverName,
		"--endpoint=unix://" + c.driverSocket(),
		"--statedir=" + c.backend(),
		"--nodeid=" + node,
		"--v=4",
	}
}

// VolumeDir is the directory of a volume's files, by the handle of its PersistentVolume; for a block volume it is the
// file that holds the blocks.
func (c *CSIDriver) VolumeDir(handle string) string { return filepath.Join(c.backend(), handle) }

// SnapshotFile is what a snapshot holds, by the handle in the status of its VolumeSnapshotContent: a tar archive,
// zipped, of the volume's files, or the blocks of a block volume.
func (c *CSIDriver) SnapshotFile(handle string) string {
	return filepath.Join(c.backend(), handle+snapshotExtension)
}
