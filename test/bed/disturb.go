package bed

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Signal sends a signal to the first process of a container, by its ID in the runtime. The kubelet hears of an end
// as of any other.
func (n *Node) Signal(ctx context.Context, container, signal string) error {
	return n.do(ctx, "signal container "+container, n.bed.program(parts.Containerd, "ctr"),
		"--address", containerdSocket, "--namespace", "k8s.io", "tasks", "kill", "--signal", signal, container)
}

// Containerd and Kubelet are daemons of a node that Crash can end.
const (
	Containerd = "containerd"
	Kubelet    = "kubelet"
)

// Crash kills a daemon of the node. It is started again after a second; containers outlive it.
func (n *Node) Crash(ctx context.Context, daemon string) error {
	name := daemon + "-" + n.Name()
	pid, err := os.ReadFile(n.bed.path("log", name+".pid")) // as the node counts processes
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	return n.do(ctx, "kill "+name, "kill", "-KILL", string(pid))
}

// Isolate drops every packet from and to a pod of the node. Its probes, which run inside it, go on.
func (n *Node) Isolate(ctx context.Context, podIP string) error {
	return n.isolation(ctx, "--insert", podIP)
}

// Rejoin ends Isolate.
func (n *Node) Rejoin(ctx context.Context, podIP string) error {
	return n.isolation(ctx, "--delete", podIP)
}

// isolation covers pods of the same node as well: what a bridge forwards passes the same rules here.
func (n *Node) isolation(ctx context.Context, verb, podIP string) error {
	for _, end := range []string{"--source", "--destination"} {
		if err := n.do(ctx, verb+" rule for "+podIP, "iptables", "--wait", verb, "FORWARD", end, podIP, "--jump", "DROP"); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) do(ctx context.Context, what, program string, args ...string) error {
	output, err := n.Command(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s on %s: %w: %s", what, n.Name(), err, strings.TrimSpace(string(output)))
	}
	return nil
}

// NodeOf is the node of that name.
func (b *Bed) NodeOf(name string) (*Node, bool) {
	for _, n := range b.Nodes() {
		if n.Name() == name {
			return n, true
		}
	}
	return nil, false
}
