package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/statecraft-dev/statecraft/internal/valkey/node/config"
	"github.com/statecraft-dev/statecraft/internal/valkey/node/guard"
	"github.com/statecraft-dev/statecraft/internal/valkey/node/nodesconf"
)

// unloadable is added to the name of a file that no server starts with. It is kept
// for whoever wants to know what happened.
const unloadable = ".unloadable"

// outdated is added to the name of a copy of the data that nobody keeps up to date.
const outdated = ".outdated"

// data looks for what the server would load. With a log it loads nothing else.
func data(s config.Settings) (guard.Data, error) {
	if s.Log != "" {
		files, err := os.ReadDir(s.Log)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for data: %w", err)
		}
		for _, f := range files {
			if filepath.Ext(f.Name()) != ".manifest" && filled(filepath.Join(s.Log, f.Name())) {
				return guard.Log, nil
			}
		}
		return guard.Nothing, nil
	}
	switch {
	case !filled(s.Snapshot):
		return guard.Nothing, nil
	case s.Saves:
		return guard.Snapshot, nil
	}
	// A replica writes down what its primary sends it at first, and nobody renews it: by now
	// it is any number of writes old, and must not be taken for the data.
	if err := os.Rename(s.Snapshot, s.Snapshot+outdated); err != nil {
		return "", fmt.Errorf("put an outdated copy aside: %w", err)
	}
	return guard.Nothing, nil
}

func filled(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// memory reads what the server knew when it last ran, and mends it; nil is that it
// remembers nothing. A file that cannot be loaded is put aside: no server would ever
// start with it.
func (r *Run) memory(file, version, addr string) (*nodesconf.File, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read memory: %w", err)
	}
	known, err := nodesconf.Parse(string(text))
	if err != nil {
		r.say("%v: it is put aside, and the server starts with a new name", err)
		if err := os.Rename(file, file+unloadable); err != nil {
			return nil, fmt.Errorf("put memory aside: %w", err)
		}
		return nil, nil
	}
	mended := r.mend(string(text), version, addr)
	if mended == string(text) {
		return &known, nil
	}
	return &known, replace(file, mended, 0o644)
}

// follow writes down that the server is the replica of another by now.
func follow(file, primary string, epoch int64) (*nodesconf.File, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read memory: %w", err)
	}
	changed, done := nodesconf.Follow(string(text), primary, epoch)
	if !done {
		return nil, fmt.Errorf("%w: %s, which owns its slots, was no replica of it", ErrRefused, primary)
	}
	known, err := nodesconf.Parse(changed)
	if err != nil {
		return nil, fmt.Errorf("follow %s: %w", primary, err)
	}
	return &known, replace(file, changed, 0o644)
}

// mend makes of what a server wrote what it can live with.
func (r *Run) mend(text, version, addr string) string {
	text, displaced := nodesconf.Displace(text, addr)
	if len(displaced) > 0 {
		r.say("%v had this address before: taken from them in nodes.conf", displaced)
	}
	if !nodesconf.Fragile(version) {
		return text
	}
	text, changed := nodesconf.Repair(text)
	if len(changed) > 0 {
		r.say("%v were in another shard than their primaries in nodes.conf: mended", changed)
	}
	return text
}

// replace writes a file so that it is there as a whole or not at all.
func replace(file, text string, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", file, err)
		}
	}()
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
