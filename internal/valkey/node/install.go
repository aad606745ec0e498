package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Install copies this program into a directory, where a container of any image finds
// it. A copy that is running is not touched.
func Install(dir string) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	from, err := os.Open(self)
	if err != nil {
		return fmt.Errorf("read this program: %w", err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.CreateTemp(dir, filepath.Base(self)+".")
	if err != nil {
		return fmt.Errorf("install in %s: %w", dir, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(to.Name())
			err = fmt.Errorf("install in %s: %w", dir, err)
		}
	}()
	_, err = io.Copy(to, from)
	err = errors.Join(err, to.Chmod(0o755), to.Close())
	if err != nil {
		return err
	}
	return os.Rename(to.Name(), filepath.Join(dir, "statecraft-valkey-node"))
}
