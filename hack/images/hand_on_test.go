package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestPushedImagesKeepTheirDigests reads back what a registry has, by tag and by digest.
func TestPushedImagesKeepTheirDigests(t *testing.T) {
	_, images := first(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://") + "/team"
	var said bytes.Buffer
	if err := pushAll(t.Context(), images, host, true, &said); err != nil {
		t.Fatal(err)
	}
	for _, image := range images {
		from, err := repository(host, image.name, true)
		if err != nil {
			t.Fatal(err)
		}
		tagged, err := remote.Index(from.Tag(image.version), remote.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if digest, err := tagged.Digest(); err != nil || digest != image.digest {
			t.Errorf("%s has the digest %s, want %s: %v", image.name, digest, image.digest, err)
		}
		named, err := remote.Index(from.Digest(image.digest.String()), remote.WithContext(t.Context()))
		if err == nil {
			err = validate.Index(named) // reads every layer and compares its digest
		}
		if err != nil {
			t.Errorf("%s by its digest: %v", image.name, err)
		}
		if reference := host + "/" + image.name + "@" + image.digest.String(); !strings.Contains(said.String(), reference+"\n") {
			t.Errorf("nothing says how to name %s:\n%s", reference, &said)
		}
	}
}

// TestAnArchiveNamesImagesAsPodsDo: a node without a registry has no other way to find them.
func TestAnArchiveNamesImagesAsPodsDo(t *testing.T) {
	_, images := buildWith(t, builder{compile: copyOfThisTest, version: "1", platforms: all})
	for what, test := range map[string]struct {
		platforms []v1.Platform
		blobs     int // of an image: its index, and manifest, configuration and layer of a platform
	}{
		"all platforms": {nil, 1 + 2*3 - 1}, // the layers are the same here
		"one platform":  {all[:1], 1 + 3},
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "images.tar")
			if err := archiveAll(images, "registry.example/team", test.platforms, file); err != nil {
				t.Fatal(err)
			}
			files := unpack(t, file)
			var index v1.IndexManifest
			if err := json.Unmarshal(files["index.json"], &index); err != nil || len(index.Manifests) != len(programs) {
				t.Fatalf("%d images: %v", len(index.Manifests), err)
			}
			for i, described := range index.Manifests {
				name := "registry.example/team/" + images[i].name + "@" + images[i].digest.String()
				if described.Digest != images[i].digest || described.Annotations[imageName] != name {
					t.Errorf("image %s is %s, %v", images[i].name, described.Digest, described.Annotations)
				}
			}
			if want := 2 + len(programs)*test.blobs; len(files) != want {
				t.Errorf("the archive has %d files, want %d", len(files), want)
			}
		})
	}
}

// copyOfThisTest stands for a program where its content does not matter.
func copyOfThisTest(_ context.Context, p program, _ v1.Platform, out string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(self)
	return errors.Join(err, os.WriteFile(out, append(text, p.Name...), 0o600))
}

// unpack reads an archive and checks the names of its content.
func unpack(t *testing.T, file string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for reader := tar.NewReader(bytes.NewReader(text)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(files[header.Name])
		if hash, blob := strings.CutPrefix(header.Name, "blobs/sha256/"); blob && hash != hex.EncodeToString(sum[:]) {
			t.Errorf("%s has other content", header.Name)
		}
	}
}
