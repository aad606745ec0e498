package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func image() Image {
	return Image{
		Tag: "bed.local/test:1",
		Layers: []Layer{Files{
			"/bin/tool":  {Mode: 0o755, Content: []byte("tool")},
			"/bin/alias": {Link: "tool"},
			"/tmp":       {Dir: true, Mode: 0o1777},
		}},
		Config: Config{Entrypoint: []string{"/bin/tool"}, Labels: map[string]string{"b": "2", "a": "1"}},
	}
}

func TestTheSameImageIsTheSameBytes(t *testing.T) {
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := image().write(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two archives of one image differ")
	}
}

func TestADirectoryComesBeforeWhatIsInIt(t *testing.T) {
	reader, _, err := image().Layers[0].open()
	if err != nil {
		t.Fatal(err)
	}
	got := names(t, reader)
	want := []string{"bin/", "bin/alias", "bin/tool", "tmp/"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func names(t *testing.T, reader io.Reader) []string {
	t.Helper()
	var found []string
	for entries := tar.NewReader(reader); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, header.Name)
	}
}
