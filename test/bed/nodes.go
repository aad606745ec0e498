package bed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/internal/cgroup"
	"github.com/statecraft-dev/statecraft/test/bed/internal/filelock"
	"github.com/statecraft-dev/statecraft/test/bed/internal/hostnet"
	"github.com/statecraft-dev/statecraft/test/bed/internal/loop"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// maxNodes is how many nodes the addresses are laid out for.
const maxNodes = 3

// nodesLock keeps two beds with nodes apart: their addresses and names are fixed.
const nodesLock = "/run/statecraft-bed-nodes.lock"

var (
	// ErrNotRoot says that nodes need privileges this process lacks.
	ErrNotRoot = errors.New("nodes need root: they have namespaces, mounts and a network of their own")
	// ErrHidden says that a directory of the bed lies where nodes cannot see it.
	ErrHidden = errors.New("nodes need this directory and have their own")
	// ErrNodeCount says that a bed cannot have that many nodes.
	ErrNodeCount = fmt.Errorf("a bed has 1 to %d nodes", maxNodes)
)

// Nodes are n machines, 1 to 3, that run pods: kubelet, containerd and kube-proxy in namespaces of their own. They
// need root, and only one bed with nodes runs at a time; Start waits for the other to end.
func Nodes(n int) Part {
	return Part{
		name:    fmt.Sprintf("%d nodes", n),
		built:   []string{parts.Containerd, parts.Runc, parts.CNI},
		prepare: func(ctx context.Context, b *Bed) error { return b.prepareNodes(ctx, n) },
		start:   func(ctx context.Context, b *Bed) error { return b.startNodes(ctx, n) },
	}
}

// prepareNodes readies the host. The guard comes first: from here on nothing for the nodes can leave the machine.
func (b *Bed) prepareNodes(ctx context.Context, n int) error {
	if n < 1 || n > maxNodes {
		return fmt.Errorf("%d nodes: %w", n, ErrNodeCount)
	}
	if os.Geteuid() != 0 {
		return ErrNotRoot
	}
	if err := parts.InstallHostTools(ctx); err != nil {
		return err
	}
	if err := b.visibleOnNodes(); err != nil {
		return err
	}
	unlock, err := LockNodes(ctx)
	if err != nil {
		return err
	}
	b.onStop(func(context.Context) error { return unlock() })
	if err := hostnet.Guard(ctx); err != nil {
		return err
	}
	// What a killed bed left: with the lock held nobody else can be using it.
	if err := removeLeftovers(ctx); err != nil {
		return err
	}
	b.onStop(removeLeftovers)
	if err := hostnet.Up(ctx); err != nil {
		return err
	}
	b.layout.apiHost, b.layout.apiPort, b.layout.endpoints = hostnet.Host, 6443, "lease"
	b.nodeInit, err = parts.Program(ctx, "./test/bed/cmd/bed-node")
	if err != nil {
		return err
	}
	return b.prepareVolumes()
}

// visibleOnNodes refuses to run programs from where nodes have something of their own mounted.
func (b *Bed) visibleOnNodes() error {
	needed := []string{b.dir}
	for _, dir := range b.programs {
		needed = append(needed, dir)
	}
	for _, dir := range needed {
		for _, hidden := range []string{"/run/", "/var/lib/", "/var/log/", "/mnt/", "/sys/", "/proc/"} {
			if strings.HasPrefix(dir, hidden) {
				return fmt.Errorf("%s: %w %s", dir, ErrHidden, hidden)
			}
		}
	}
	return nil
}

// LockNodes waits until no bed with nodes is up and keeps others from starting until it is unlocked.
func LockNodes(ctx context.Context) (unlock func() error, err error) {
	lock, err := filelock.Try(nodesLock)
	if errors.Is(err, filelock.ErrHeld) {
		fmt.Fprintln(parts.Progress, "bed: waiting for another bed with nodes to stop")
		lock, err = filelock.Wait(ctx, nodesLock)
	}
	if err != nil {
		return nil, err
	}
	return lock.Unlock, nil
}

// ThawLeftovers lets the nodes of a killed bed die: a frozen one does not. It does nothing while a bed with nodes
// is up.
func ThawLeftovers(ctx context.Context) error { return unlessUp(ctx, thawLeftovers) }

// RemoveLeftovers removes what a bed left when it was killed: links, addresses, control groups, the mount point of
// volumes and loop devices. The guard stays. What may be in use by a bed that is up stays too.
func RemoveLeftovers(ctx context.Context) error {
	return errors.Join(unlessUp(ctx, removeLeftovers), loop.DetachLeftovers(ctx))
}

func unlessUp(ctx context.Context, do func(context.Context) error) error {
	lock, err := filelock.Try(nodesLock)
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(do(ctx), lock.Unlock())
}

func thawLeftovers(ctx context.Context) error {
	var errs []error
	for i := 1; i <= maxNodes; i++ {
		errs = append(errs, cgroup.ThawLeftovers(ctx, cgroupName(i)))
	}
	return errors.Join(errs...)
}

func removeLeftovers(ctx context.Context) error {
	errs := []error{hostnet.Down(ctx, maxNodes), removeVolumesMountPoint()}
	for i := 1; i <= maxNodes; i++ {
		errs = append(errs, cgroup.RemoveLeftovers(ctx, cgroupName(i)))
	}
	return errors.Join(errs...)
}

func (b *Bed) startNodes(ctx context.Context, n int) error {
	client, err := kubernetes.NewForConfig(b.Config())
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if err := createStorageClass(ctx, client); err != nil {
		return err
	}
	for i := 1; i <= n; i++ {
		b.nodes = append(b.nodes, &Node{bed: b, index: i})
	}
	err = b.eachNode(func(node *Node) error {
		if err := node.PowerOn(ctx); err != nil {
			return err
		}
		return node.importImage(ctx, images.Pause)
	})
	if err != nil {
		return err
	}
	for _, node := range b.nodes {
		if err := b.waitForNode(ctx, client, node); err != nil {
			return err
		}
	}
	return nil
}

// eachNode does something to all nodes at once.
func (b *Bed) eachNode(do func(*Node) error) error {
	errs := make([]error, len(b.nodes))
	var group sync.WaitGroup
	for i, node := range b.nodes {
		group.Go(func() { errs[i] = do(node) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (b *Bed) waitForNode(ctx context.Context, client kubernetes.Interface, node *Node) error {
	return b.await(ctx, node.Name(), func(ctx context.Context) (bool, error) {
		object, err := client.CoreV1().Nodes().Get(ctx, node.Name(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range object.Status.Conditions {
			if condition.Type == corev1.NodeReady {
				return condition.Status == corev1.ConditionTrue, nil
			}
		}
		return false, nil
	})
}

// Node returns node i, counted from 1.
func (b *Bed) Node(i int) *Node { return b.nodes[i-1] }

// Nodes returns all nodes.
func (b *Bed) Nodes() []*Node { return append([]*Node(nil), b.nodes...) }
