package bed

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/bed/internal/nodeinit"
	"github.com/statecraft-dev/statecraft/test/bed/internal/registrar"
)

// CSIDaemon is the driver as Crash knows it, on the first node.
const CSIDaemon = "csi-driver"

// daemons of storage on a node: the driver runs on the first one only, since its controller and its node service are
// one process with one memory.
func (c *CSIDriver) daemons(n *Node) []nodeinit.Daemon {
	if c == nil || n.index != 1 {
		return nil
	}
	return []nodeinit.Daemon{{
		Name: CSIDaemon + "-" + n.Name(), Path: c.driverProgram(), Args: c.driverFlags(n.Name()),
		Socket: c.driverSocket(),
	}}
}

// register makes the kubelet of the first node use the driver, and waits until it does. Kubelet calls through the
// proxy like everybody else. A node that comes back finds the socket in its directory and asks again.
func (c *CSIDriver) register(ctx context.Context) error {
	node := c.bed.Node(1)
	r, err := registrar.Start(node.disk("var/lib/kubelet/plugins_registry"), DriverName, c.Socket())
	if err != nil {
		return err
	}
	c.bed.onStop(func(context.Context) error { return r.Close() })
	client, err := kubernetes.NewForConfig(c.bed.Config())
	if err != nil {
		return err
	}
	return c.bed.await(ctx, "kubelet to use the CSI driver", func(ctx context.Context) (bool, error) {
		if ok, err := r.Registered(); !ok {
			return false, err
		}
		node, err := client.StorageV1().CSINodes().Get(ctx, node.Name(), metav1.GetOptions{})
		return err == nil && len(node.Spec.Drivers) > 0, err
	})
}
