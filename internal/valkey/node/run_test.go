package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Two primaries and their replicas, none of which answers. This one is the first.
const (
	selfID, followerID = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	shardOne, shardTwo = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"

	primaryLine  = selfID + " 127.0.0.1:1@16379,,shard-id=" + shardOne + " myself,master - 0 0 7 connected 0-99\n"
	followerLine = followerID + " 127.0.0.1:2@16379,,shard-id=" + shardTwo + " slave " + selfID + " 0 0 7 connected\n"
)

// home is the directory of a server, with a program in it that knows its version and nothing
// else.
func home(t *testing.T, version string, files map[string]string) *Run {
	t.Helper()
	dir := t.TempDir()
	files["valkey.conf"] = "port 1\ndir " + dir + "\nappendonly yes\ncluster-node-timeout 100\n" + files["valkey.conf"]
	files["server"] = "#!/bin/sh\necho Valkey server v=" + version + " bits=64\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil { //nolint:gosec // one of them is a program
			t.Fatal(err)
		}
	}
	return &Run{Program: filepath.Join(dir, "server"), Config: filepath.Join(dir, "valkey.conf"), IP: "127.0.0.1",
		Patience: time.Millisecond, Say: func(string) {}}
}

// A primary that lost its data does not open its port while a replica may hold it.
func TestAnEmptyPrimaryDoesNotStart(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		err   error
	}{
		"it is empty, and its replica does not answer": {map[string]string{"nodes.conf": primaryLine + followerLine}, ErrRefused},
		"it has its data":                 {map[string]string{"nodes.conf": primaryLine + followerLine, "appendonlydir/a.aof": "x"}, nil},
		"it has only a table of contents": {map[string]string{"nodes.conf": primaryLine + followerLine, "appendonlydir/a.manifest": "x"}, ErrRefused},
		"it has no replica":               {map[string]string{"nodes.conf": primaryLine}, nil},
		"it has no memory":                {map[string]string{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := home(t, "8.1.1", tc.files).prepare(t.Context()); !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
		})
	}
}

// A file that servers below 9 do not start with is mended before they do, and one that none
// starts with is put aside.
func TestMemoryIsMended(t *testing.T) {
	for name, tc := range map[string]struct{ version, text, want, aside string }{
		"8.1":                       {"8.1.1", primaryLine + followerLine, primaryLine + strings.Replace(followerLine, shardTwo, shardOne, 1), ""},
		"9.1":                       {"9.1.2", primaryLine + followerLine, primaryLine + followerLine, ""},
		"one that cannot be loaded": {"8.1.1", "something else\n", "", "something else\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := home(t, tc.version, map[string]string{"nodes.conf": tc.text, "appendonlydir/a.aof": "x"})
			if _, _, err := r.prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(filepath.Dir(r.Config), "nodes.conf")
			is, _ := os.ReadFile(file)
			aside, _ := os.ReadFile(file + unloadable)
			if string(is) != tc.want || string(aside) != tc.aside {
				t.Errorf("it is\n%s\nand put aside is\n%s", is, aside)
			}
		})
	}
}
