package bed

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/internal/archive"
	"github.com/statecraft-dev/statecraft/test/bed/internal/hostnet"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// ProgramImage makes an image of a command of this repository, static on an empty base, and returns the path of
// its archive for LoadImage.
func ProgramImage(ctx context.Context, tag, goPackage string) (string, error) {
	return images.Program(ctx, tag, goPackage)
}

// LoadImages makes images of package images that are missing in the cache and loads them into every node, under all
// their names. Nothing is pulled.
func (b *Bed) LoadImages(ctx context.Context, tags ...string) error {
	for _, tag := range tags {
		if err := b.eachNode(func(n *Node) error { return n.importImage(ctx, tag) }); err != nil {
			return err
		}
	}
	return nil
}

// LoadImage loads a docker archive into every node.
func (b *Bed) LoadImage(ctx context.Context, path string) error {
	return b.eachNode(func(n *Node) error { return n.importArchive(ctx, path) })
}

func (n *Node) importImage(ctx context.Context, tag string) error {
	path, err := images.Archive(ctx, tag)
	if err != nil {
		return err
	}
	return n.importArchive(ctx, path, images.Names(tag)...)
}

// importArchive loads an archive under the given names, or under its own if there are none. The names are
// written on the way, so that another name makes no other archive.
func (n *Node) importArchive(ctx context.Context, path string, names ...string) error {
	if err := n.awaitContainerd(ctx); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer func() { _ = file.Close() }()
	image := io.Reader(file)
	if len(names) > 0 {
		renamed := archive.Renamed(file, names...)
		defer func() { _ = renamed.Close() }()
		image = renamed
	}
	if err := ImportInto(ctx, n.PID(), image); err != nil {
		return fmt.Errorf("import %s into %s: %w", path, n.Name(), err)
	}
	return nil
}

// ImportInto loads an archive of images into a node that may be another process's, by the id of its first process.
func ImportInto(ctx context.Context, pid int, archive io.Reader) error {
	dir, err := parts.Dir(ctx, parts.Containerd)
	if err != nil {
		return err
	}
	cmd := commandIn(ctx, pid, filepath.Join(dir, "ctr"), "--address", containerdSocket, "--namespace", "k8s.io", "images", "import", "-")
	cmd.Stdin = archive
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("import images: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// awaitContainerd looks at the socket through the node's root directory.
func (n *Node) awaitContainerd(ctx context.Context) error {
	socket := fmt.Sprintf("/proc/%d/root%s", n.init.PID(), containerdSocket)
	return n.bed.await(ctx, "containerd of "+n.Name(), func(context.Context) (bool, error) {
		connection, err := net.Dial("unix", socket)
		if err != nil {
			return false, err
		}
		return true, connection.Close()
	})
}

// PullFrom lets nodes pull images that are named localhost:PORT/… from this port of the host, and returns the address at
// which a registry has to listen for that. Without it nodes pull nothing.
func (b *Bed) PullFrom(port string) (address string, err error) {
	address = net.JoinHostPort(hostnet.Host, port)
	mirror := fmt.Sprintf("[host.%q]\n  capabilities = [\"pull\", \"resolve\"]\n", "http://"+address)
	return address, b.eachNode(func(n *Node) error {
		dir := n.disk("etc", "registries", "localhost:"+port)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make folder of a registry: %w", err)
		}
		return os.WriteFile(filepath.Join(dir, "hosts.toml"), []byte(mirror), 0o644)
	})
}

// RemoveImage makes the node forget an image. Containers that use it go on.
func (n *Node) RemoveImage(ctx context.Context, tag string) error {
	return n.do(ctx, "remove image "+tag, n.bed.program(parts.Containerd, "ctr"),
		"--address", containerdSocket, "--namespace", "k8s.io", "images", "rm", "--sync", tag)
}
