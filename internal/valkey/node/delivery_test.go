package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// deliver replaces the files of a directory as a kubelet does.
func deliver(dir, text string, names ...string) error {
	fresh, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return err
	}
	for _, name := range names {
		err = errors.Join(err, os.WriteFile(filepath.Join(fresh, name), []byte(text), 0o600))
	}
	data := filepath.Join(dir, "..data")
	before, _ := os.Readlink(data)
	if err = errors.Join(err, os.Symlink(filepath.Base(fresh), data+"_tmp"), os.Rename(data+"_tmp", data)); before == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(dir, before)))
}

// Passwords that are changed while they are read are all old or all new, and never none.
func TestFilesAreReadOfOneDelivery(t *testing.T) {
	dir, names := t.TempDir(), []string{"a", "b"}
	for _, name := range names {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := deliver(dir, "first", names...); err != nil {
		t.Fatal(err)
	}
	delivered := make(chan error, 1)
	go func() {
		for i := range 2000 {
			if err := deliver(dir, fmt.Sprint(i), names...); err != nil {
				delivered <- err
				return
			}
		}
		delivered <- nil
	}()
	for {
		files, err := readFiles(dir, names...)
		if err != nil || files["a"] == "" || files["a"] != files["b"] {
			t.Fatalf("%v, %v", files, err)
		}
		select {
		case err := <-delivered:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

// What is not there is empty: others say whether it may be.
func TestNoFilesAreRead(t *testing.T) {
	if files, err := readFiles(filepath.Join(t.TempDir(), "none"), "a"); err != nil || files["a"] != "" {
		t.Errorf("%v, %v", files, err)
	}
}
