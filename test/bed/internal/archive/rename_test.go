package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func contents(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	found := map[string]string{}
	for entries := tar.NewReader(archive); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = string(content)
	}
}

// A second name changes what the archive says of its image, and nothing of the image.
func TestARenamedArchiveIsTheSameImage(t *testing.T) {
	var first, second bytes.Buffer
	other := image()
	other.Tag = "busybox:1.36"
	for out, i := range map[*bytes.Buffer]Image{&first: image(), &second: other} {
		if err := i.write(out); err != nil {
			t.Fatal(err)
		}
	}
	renamed := Renamed(&first, other.Tag)
	defer func() { _ = renamed.Close() }()
	if diff := cmp.Diff(contents(t, &second), contents(t, renamed)); diff != "" {
		t.Errorf("an image under that name and one that was given it differ (-want +got):\n%s", diff)
	}
}

func TestWhatIsNoArchiveIsNotRenamed(t *testing.T) {
	if _, err := io.ReadAll(Renamed(bytes.NewReader(bytes.Repeat([]byte("x"), 1024)), "busybox:1.36")); err == nil {
		t.Error("1,024 letters are an archive")
	}
}
