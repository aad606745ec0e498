package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// eachImage calls check with every image of the first build.
func eachImage(t *testing.T, check func(*testing.T, program, v1.Image)) {
	t.Helper()
	_, images := first(t)
	for i, b := range images {
		count := 0
		err := b.each(func(platform v1.Platform, image v1.Image) error {
			count++
			t.Run(b.name+" "+platform.String(), func(t *testing.T) { check(t, programs[i], image) })
			return nil
		})
		if err != nil || count != len(platforms()) {
			t.Errorf("image %s is for %d platforms: %v", b.name, count, err)
		}
	}
}

// TestNothingElseIsInAnImage lists every file of every image, with its rights.
func TestNothingElseIsInAnImage(t *testing.T) {
	eachImage(t, func(t *testing.T, p program, image v1.Image) {
		var got []string
		err := walk(image, func(h *tar.Header, content io.Reader) error {
			got = append(got, fmt.Sprintf("%04o %d:%d /%s", h.Mode, h.Uid, h.Gid, h.Name))
			if h.ModTime.Unix() != 0 {
				t.Errorf("%s is of %s", h.Name, h.ModTime)
			}
			if h.Name == p.binary() {
				checkBinary(t, p, content)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"0755 0:0 /etc", "0644 0:0 /etc/passwd", "0755 0:0 /" + p.binary(), "1777 0:0 /tmp"}
		if !slices.Equal(got, want) {
			t.Errorf("it has %q, want %q", got, want)
		}
	})
}

// checkBinary: there is no loader in an image, nor a library.
func checkBinary(t *testing.T, p program, content io.Reader) {
	t.Helper()
	text, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(file.Progs, func(prog *elf.Prog) bool { return prog.Type == elf.PT_INTERP }) {
		t.Error("the binary needs a loader")
	}
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the binary needs %q: %v", libraries, err)
	}
	for _, mark := range []string{"0.1.0-test.1", "1a2b3c4"} {
		if has := bytes.Contains(text, []byte(mark)); has != p.Versioned {
			t.Errorf("that the binary has %s in it is %t", mark, has)
		}
	}
}

func TestConfiguration(t *testing.T) {
	eachImage(t, func(t *testing.T, p program, image v1.Image) {
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/" + p.binary()}) {
			t.Errorf("it runs %q as %s", config.Config.Entrypoint, config.Config.User)
		}
		if !config.Created.Equal(epoch) || config.OS != "linux" {
			t.Errorf("it was made %s for %s", config.Created, config.OS)
		}
		want := map[string]string{}
		if p.Versioned {
			want = map[string]string{label + "version": "0.1.0-test.1", label + "revision": "1a2b3c4"}
		}
		for _, name := range []string{label + "version", label + "revision"} {
			if got, has := config.Config.Labels[name]; got != want[name] || has != p.Versioned {
				t.Errorf("label %s is %q, want %q", name, got, want[name])
			}
		}
		for name, text := range config.Config.Labels {
			if !p.Versioned && (strings.Contains(text, "0.1.0") || strings.Contains(text, "1a2b3c4")) {
				t.Errorf("label %s has a version: %s", name, text)
			}
		}
		if media, err := image.MediaType(); err != nil || media != types.OCIManifestSchema1 {
			t.Errorf("it is of the type %s: %v", media, err)
		}
	})
}
