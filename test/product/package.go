package product

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// Registry is where the images of a bed seem to come from: its nodes have them, and pull nothing.
const Registry = "statecraft.local"

// Package is what a user installs: a chart, and the images that it names by their digests.
type Package struct {
	Chart  string // the packed chart
	Images string // the archive of the images
	Dir    string // what else was built
}

var packing struct {
	sync.Mutex
	made map[string]Package
}

// Pack builds images and chart of a version, as `make images chart` does, once per bed.
func Pack(t testing.TB, b *bed.Bed, version string) Package {
	t.Helper()
	packing.Lock()
	defer packing.Unlock()
	if p, made := packing.made[version]; made {
		return p
	}
	root, dir := harness.Root(t), filepath.Join(b.Dir(), "package-"+version)
	p := Package{Chart: filepath.Join(dir, "statecraft-"+version+".tgz"), Images: filepath.Join(dir, "images.tar"), Dir: dir}
	images := []string{"-C", "hack/images", "run", "."}
	for _, args := range [][]string{
		append(images, "build", "-root", root, "-version", version, "-commit", "0123456789ab", "-platforms", "linux/amd64", "-out", dir),
		append(images, "archive", "-registry", Registry, "-dir", dir, "-out", p.Images),
		{"run", "./hack/chart", "pack", "-version", version, "-registry", Registry, "-images", filepath.Join(dir, "images.txt"), "-out", dir},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	if packing.made == nil {
		packing.made = map[string]Package{}
	}
	packing.made[version] = p
	return p
}
