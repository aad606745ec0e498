package bed

import (
	"context"
	"errors"
	"fmt"

	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// The sidecars of the driver, by the names StopSidecar and StartSidecar know. Each is also the user as which it
// writes, so that its writes can be told.
const (
	ProvisionerSidecar = "csi-provisioner"
	SnapshotterSidecar = "csi-snapshotter"
	SnapshotController = "snapshot-controller"
)

// ErrUnknownSidecar says that no sidecar has that name.
var ErrUnknownSidecar = errors.New("unknown sidecar")

// sidecarLimits are far above the five requests a second that sidecars allow themselves, which is otherwise all that
// a test measures.
var sidecarLimits = []string{"--kube-api-qps=200", "--kube-api-burst=400"}

func (c *CSIDriver) startSidecars() error {
	address := "--csi-address=" + c.Socket()
	for name, sidecar := range map[string]struct {
		part  string
		flags []string
	}{
		ProvisionerSidecar: {parts.Provisioner, []string{address, c.topologyFlag()}},
		SnapshotterSidecar: {parts.Snapshotter, []string{address}},
		SnapshotController: {parts.Snapshotter, nil},
	} {
		// Group masters: what rights sidecars need is their own business and not what is tested here.
		kubeconfig, err := c.bed.KubeconfigFor(name, masters)
		if err != nil {
			return err
		}
		flags := append([]string{"--kubeconfig=" + kubeconfig, "--leader-election=false"}, sidecarLimits...)
		err = c.AddSidecar(name, c.bed.program(sidecar.part, name), append(flags, sidecar.flags...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// topologyFlag binds volumes to the driver's node. Without nodes there is none that the provisioner could find.
func (c *CSIDriver) topologyFlag() string {
	return fmt.Sprintf("--feature-gates=Topology=%t", len(c.bed.nodes) > 0)
}

// AddSidecar runs one more program beside the driver until the bed stops. It is started again whenever it ends, and
// its log is the bed's Log(name).
func (c *CSIDriver) AddSidecar(name, program string, args ...string) error {
	sidecar := process.Keep(process.Command{Name: name, Path: program, Args: args}, c.bed.path("log"))
	if err := sidecar.Start(); err != nil {
		return err
	}
	c.bed.onStop(sidecar.Stop)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sidecars[name] = sidecar
	return nil
}

// StopSidecar kills a sidecar and leaves it stopped.
func (c *CSIDriver) StopSidecar(ctx context.Context, name string) error {
	sidecar, err := c.sidecar(name)
	if err != nil {
		return err
	}
	return sidecar.Stop(ctx)
}

// StartSidecar starts a sidecar that was stopped.
func (c *CSIDriver) StartSidecar(name string) error {
	sidecar, err := c.sidecar(name)
	if err != nil {
		return err
	}
	return sidecar.Start()
}

func (c *CSIDriver) sidecar(name string) (*process.Kept, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sidecar, ok := c.sidecars[name]
	if !ok {
		return nil, fmt.Errorf("%w %q", ErrUnknownSidecar, name)
	}
	return sidecar, nil
}

// pids adds the processes of the sidecars that run now.
func (c *CSIDriver) pids(ids map[string]int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, sidecar := range c.sidecars {
		if pid, runs := sidecar.PID(); runs {
			ids[name] = pid
		}
	}
}
