package images

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/statecraft-dev/statecraft/test/bed/internal/archive"
)

// nobody is who programs run as unless a pod says otherwise.
const nobody = "65532:65532"

func programImage(binary string) (archive.Image, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return archive.Image{}, fmt.Errorf("read program: %w", err)
	}
	path := "/" + filepath.Base(binary)
	return archive.Image{
		Layers: []archive.Layer{archive.Files{
			path:   {Mode: 0o755, Content: content},
			"/tmp": {Dir: true, Mode: 0o1777},
			"/etc/passwd": {Mode: 0o644, Content: []byte(
				"root:x:0:0:root:/:/sbin/nologin\nnobody:x:65532:65532:nobody:/tmp:/sbin/nologin\n")},
		}},
		Config: archive.Config{Entrypoint: []string{path}, User: nobody, Env: []string{"PATH=/"}, WorkingDir: "/"},
	}, nil
}
