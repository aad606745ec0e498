package bed

import (
	"context"
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
	sidecar, err := c.sidecars.Add(process.Command{Name: name, Path: program, Args: args})
	if err != nil {
		return err
	}
	c.bed.onStop(sidecar.Stop)
	return nil
}

// StopSidecar kills a sidecar and leaves it stopped.
func (c *CSIDriver) StopSidecar(ctx context.Context, name string) error {
	return c.sidecars.Stop(ctx, name)
}

// StartSidecar starts a sidecar that was stopped.
func (c *CSIDriver) StartSidecar(name string) error { return c.sidecars.Start(name) }

// pids adds the processes of the sidecars that run now.
func (c *CSIDriver) pids(ids map[string]int) {
	if c != nil {
		c.sidecars.PIDs(ids)
	}
}
