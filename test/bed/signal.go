package bed

import (
	"context"
	"fmt"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Signal sends a signal to the first process of a container, by its ID in the runtime. The kubelet hears of an end
// as of any other.
func (n *Node) Signal(ctx context.Context, container, signal string) error {
	output, err := n.Command(ctx, n.bed.program(parts.Containerd, "ctr"), "--address", containerdSocket, "--namespace", "k8s.io",
		"tasks", "kill", "--signal", signal, container).CombinedOutput()
	if err != nil {
		return fmt.Errorf("signal container %s on %s: %w: %s", container, n.Name(), err, strings.TrimSpace(string(output)))
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
