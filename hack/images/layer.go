package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is when everything was made: a true time would make every build another image.
var epoch = time.Unix(0, 0).UTC()

// user is who programs run as unless a pod says otherwise. A pod that must not run as root needs a number here.
const (
	user   = "65532:65532"
	passwd = "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n"
)

// entry is a file or a folder of an image.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// contents are all there is in an image. There are no certificates: programs trust the authority of
// the cluster or of its users, never a public one.
func contents(p program, binary []byte) []entry {
	return []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/passwd", mode: 0o644, content: []byte(passwd)},
		{name: p.binary(), mode: 0o755, content: binary},
		{name: "tmp/", mode: 0o1777},
	}
}

func layerOf(p program, binaryFile string) (v1.Layer, error) {
	binary, err := os.ReadFile(binaryFile)
	if err != nil {
		return nil, fmt.Errorf("read program: %w", err)
	}
	packed, err := pack(contents(p, binary))
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", p.Name, err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}

func pack(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{
			Name: e.name, Mode: e.mode, Size: int64(len(e.content)),
			Typeflag: tar.TypeReg, ModTime: epoch, Format: tar.FormatUSTAR,
		}
		if e.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
