package images

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/internal/archive"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// busybox is a shell and the usual tools in one static program of Debian's.
type busybox struct{}

func (busybox) key() string { return "1" }

func (busybox) assemble(ctx context.Context, _ string) (archive.Image, error) {
	root, err := parts.UnpackedDeb(ctx, "busybox-static")
	if err != nil {
		return archive.Image{}, err
	}
	binary := filepath.Join(root, "bin", "busybox")
	content, err := os.ReadFile(binary)
	if err != nil {
		return archive.Image{}, fmt.Errorf("read busybox: %w", err)
	}
	list, err := exec.CommandContext(ctx, binary, "--list").Output()
	if err != nil {
		return archive.Image{}, fmt.Errorf("list tools of busybox: %w", err)
	}
	files := archive.Files{
		"/bin/busybox": {Mode: 0o755, Content: content},
		"/tmp":         {Dir: true, Mode: 0o1777},
		"/etc/passwd":  {Mode: 0o644, Content: []byte("root:x:0:0:root:/:/bin/sh\n")},
	}
	for _, tool := range strings.Fields(string(list)) {
		if tool != "busybox" {
			files["/bin/"+tool] = archive.File{Link: "busybox"}
		}
	}
	return archive.Image{
		Layers: []archive.Layer{files},
		Config: archive.Config{Cmd: []string{"sh"}, Env: []string{"PATH=/bin"}, WorkingDir: "/"},
	}, nil
}
