// Package hostnet is the network between the host and the nodes: one bridge, one link per node, and a guard that
// keeps every packet for them on this machine.
package hostnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

// All addresses lie in 198.18.0.0/15, set aside for benchmarks and never routed on the Internet.
const (
	Block        = "198.18.0.0/15"
	ServiceRange = "198.19.0.0/16"
	PodRange     = "198.18.0.0/20"
	Host         = "198.18.255.254" // the API server's address
	Bridge       = "bed0"
)

// NodeAddress is the address of node i, counted from 1.
func NodeAddress(i int) string { return fmt.Sprintf("198.18.255.%d", i) }

// PodSubnet is where the pods of node i get their addresses.
func PodSubnet(i int) string { return fmt.Sprintf("198.18.%d.0/24", i) }

func link(i int) string { return fmt.Sprintf("bn%d", i) }

// Guard makes the block unreachable but for what is more specific. It comes before everything else and is never
// taken away: without it a connection to a Service would follow the default route, off this machine.
func Guard(ctx context.Context) error { return ip(ctx, "route replace unreachable "+Block) }

// Up makes the bridge with the host's address on it, and the way to Services through the first node.
func Up(ctx context.Context) error {
	return ip(ctx,
		"link add "+Bridge+" type bridge",
		"addr add "+Host+"/24 dev "+Bridge,
		"link set "+Bridge+" up",
		"route add "+ServiceRange+" via "+NodeAddress(1)+" dev "+Bridge,
	)
}

// Down removes the bridge and every link of a node. What is gone already is no error.
func Down(ctx context.Context, nodes int) error {
	var errs []error
	for i := 1; i <= nodes; i++ {
		errs = append(errs, Unplug(ctx, i))
	}
	return errors.Join(append(errs, deleteLink(ctx, Bridge))...)
}

// Plug connects node i, whose init is pid, to the bridge: its end is eth0 in its own network namespace.
func Plug(ctx context.Context, i, pid int) error {
	err := ip(ctx,
		fmt.Sprintf("link add %s type veth peer name eth0 netns %d", link(i), pid),
		fmt.Sprintf("link set %s master %s", link(i), Bridge),
	)
	if err != nil {
		return err
	}
	return Heal(ctx, i)
}

// Unplug removes the link of node i. The kernel may be doing so itself, because the node has just died.
func Unplug(ctx context.Context, i int) error { return deleteLink(ctx, link(i)) }

// Cut takes the link of node i down: as if its cable were pulled.
func Cut(ctx context.Context, i int) error { return ip(ctx, "link set "+link(i)+" down") }

// Heal takes the link of node i up again.
func Heal(ctx context.Context, i int) error {
	return ip(ctx,
		"link set "+link(i)+" up",
		fmt.Sprintf("route replace %s via %s dev %s", PodSubnet(i), NodeAddress(i), Bridge),
	)
}

func deleteLink(ctx context.Context, name string) error {
	if !exists(name) {
		return nil
	}
	err := ip(ctx, "link del "+name)
	if err != nil && !exists(name) {
		return nil
	}
	return err
}

func exists(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}

func ip(ctx context.Context, commands ...string) error {
	for _, command := range commands {
		output, err := exec.CommandContext(ctx, "ip", strings.Fields(command)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, strings.TrimSpace(string(output)))
		}
	}
	return nil
}
