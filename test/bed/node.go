package bed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"github.com/statecraft-dev/statecraft/test/bed/internal/cgroup"
	"github.com/statecraft-dev/statecraft/test/bed/internal/hostnet"
	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
)

// ErrPower says that a node is on where it should be off, or off where it should be on.
var ErrPower = errors.New("node is not in that state of power")

// Node is one machine of the bed: a process tree in pid, mount, network, host name and IPC namespaces of its own.
type Node struct {
	bed   *Bed
	index int

	mu    sync.Mutex
	init  *process.Process
	group *cgroup.Group
}

// Name is the name of its Node object.
func (n *Node) Name() string { return fmt.Sprintf("node%d", n.index) }

// Address is its IP address.
func (n *Node) Address() string { return hostnet.NodeAddress(n.index) }

func cgroupName(i int) string { return fmt.Sprintf("statecraft-node%d", i) }

const nodeNamespaces = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET |
	syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC

// PowerOn boots the node with the disk it had, and returns once its daemons are being started.
func (n *Node) PowerOn(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.init != nil {
		return fmt.Errorf("power on %s: %w", n.Name(), ErrPower)
	}
	config, err := n.writeConfig()
	if err != nil {
		return err
	}
	if n.group, err = cgroup.Create(cgroupName(n.index)); err != nil {
		return err
	}
	waiting, plugged, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	defer func() { _ = plugged.Close() }()
	n.init, err = n.bed.run(process.Command{
		Name: n.Name(), Path: n.bed.nodeInit, Args: []string{"enter", config},
		Files: []*os.File{waiting}, Cloneflags: nodeNamespaces,
	})
	_ = waiting.Close()
	if err != nil {
		return err
	}
	n.bed.onStop(n.thawIfOn)
	if err := n.group.Join(n.init.PID()); err != nil {
		return err
	}
	return hostnet.Plug(ctx, n.index, n.init.PID())
}

// PowerOff is a power cut: everything on the node ends in that instant, unsaved. Its disk stays.
func (n *Node) PowerOff(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.init == nil {
		return fmt.Errorf("power off %s: %w", n.Name(), ErrPower)
	}
	// A frozen process does not die.
	if err := n.group.Thaw(ctx); err != nil {
		return err
	}
	if err := n.bed.end(ctx, n.init); err != nil {
		return err
	}
	n.init = nil
	if err := hostnet.Unplug(ctx, n.index); err != nil {
		return err
	}
	return n.group.Remove(ctx)
}

// thawIfOn comes before the end of the node's init in Stop.
func (n *Node) thawIfOn(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.init == nil {
		return nil
	}
	return n.group.Thaw(ctx)
}

// Freeze hangs the node: no process on it runs, nothing is lost, connections stay open.
func (n *Node) Freeze(ctx context.Context) error { return n.group.Freeze(ctx) }

// Thaw lets a frozen node go on where it stood.
func (n *Node) Thaw(ctx context.Context) error { return n.group.Thaw(ctx) }

// Cut pulls the node's network cable. Its pods go on and reach each other.
func (n *Node) Cut(ctx context.Context) error { return hostnet.Cut(ctx, n.index) }

// Heal plugs the cable in again.
func (n *Node) Heal(ctx context.Context) error { return hostnet.Heal(ctx, n.index) }

// Command is a command that will run on the node, as root, and end with it.
func (n *Node) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	n.mu.Lock()
	defer n.mu.Unlock()
	target := 0
	if n.init != nil {
		target = n.init.PID()
	}
	return commandIn(ctx, target, name, args...)
}

// PID is that of the node's first process, in which the node's namespaces are found; 0 if it is off.
func (n *Node) PID() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.init == nil {
		return 0
	}
	return n.init.PID()
}

// commandIn is a command in the namespaces of a node's first process.
func commandIn(ctx context.Context, pid int, name string, args ...string) *exec.Cmd {
	enter := []string{"--target", strconv.Itoa(pid), "--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup", "--", name}
	return exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
}
