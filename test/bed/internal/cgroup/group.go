package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// pollEvery is how often the kernel is asked whether a group has frozen or emptied.
const pollEvery = 20 * time.Millisecond

// Group is one control group of that name in every hierarchy.
type Group struct {
	dirs    []string
	freezer string
}

// Create makes the groups below those this process is in.
func Create(name string) (*Group, error) {
	hierarchies, err := Hierarchies()
	if err != nil {
		return nil, err
	}
	group := &Group{}
	for _, h := range hierarchies {
		dir := filepath.Join(h.Own, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make control group: %w", err)
		}
		group.dirs = append(group.dirs, dir)
		if slices.Contains(h.Controllers, "freezer") {
			group.freezer = dir
		}
		if slices.Contains(h.Controllers, "cpuset") {
			if err := inheritCPUs(dir); err != nil {
				return nil, err
			}
		}
	}
	return group, nil
}

// inheritCPUs copies what the parent may use: a new cpuset is empty and takes no process.
func inheritCPUs(dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file))
		if err != nil {
			return fmt.Errorf("read cpuset: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), value, 0o644); err != nil {
			return fmt.Errorf("copy cpuset: %w", err)
		}
	}
	return nil
}

// Dirs are the directories of the group, one per hierarchy.
func (g *Group) Dirs() []string { return slices.Clone(g.dirs) }

// Join moves a process into the group.
func (g *Group) Join(pid int) error {
	for _, dir := range g.dirs {
		err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644)
		if err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// Freeze stops every process of the group, below it too, in the middle of whatever it does.
func (g *Group) Freeze(ctx context.Context) error { return g.setFreezer(ctx, "FROZEN") }

// Thaw lets them go on.
func (g *Group) Thaw(ctx context.Context) error { return g.setFreezer(ctx, "THAWED") }

func (g *Group) setFreezer(ctx context.Context, state string) error {
	path := filepath.Join(g.freezer, "freezer.state")
	err := wait.PollUntilContextCancel(ctx, pollEvery, true, func(context.Context) (bool, error) {
		// Written again each time: a process that forked meanwhile may have slipped the first sweep.
		if err := os.WriteFile(path, []byte(state), 0o644); err != nil {
			return false, err
		}
		now, err := os.ReadFile(path)
		return strings.TrimSpace(string(now)) == state, err
	})
	if err != nil {
		return fmt.Errorf("set %s to %s: %w", path, state, err)
	}
	return nil
}

// Remove removes the group and what is below it, waiting until the last process has left.
func (g *Group) Remove(ctx context.Context) error {
	for _, dir := range g.dirs {
		if err := remove(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

// ThawLeftovers thaws groups of that name wherever they are: a frozen process does not die, not even when killed.
func ThawLeftovers(ctx context.Context, name string) error {
	return eachLeftover(name, func(h Hierarchy, dir string) error {
		if !slices.Contains(h.Controllers, "freezer") {
			return nil
		}
		return (&Group{freezer: dir}).Thaw(ctx)
	})
}

// RemoveLeftovers removes groups of that name wherever they are: those of a bed that was killed may hang below
// a group this process is not in.
func RemoveLeftovers(ctx context.Context, name string) error {
	if err := ThawLeftovers(ctx, name); err != nil {
		return err
	}
	return eachLeftover(name, func(_ Hierarchy, dir string) error { return remove(ctx, dir) })
}

func eachLeftover(name string, do func(Hierarchy, string) error) error {
	hierarchies, err := Hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hierarchies {
		for _, dir := range find(h.Mount, name) {
			if err := do(h, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func find(root, name string) []string {
	var found []string
	// An error here is a group of somebody else's that went away meanwhile.
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == name {
			found = append(found, path)
			return fs.SkipDir
		}
		return nil
	})
	return found
}

func remove(ctx context.Context, dir string) error {
	err := wait.PollUntilContextCancel(ctx, pollEvery, true, func(context.Context) (bool, error) {
		return removeTree(dir) == nil, nil
	})
	if err != nil {
		return fmt.Errorf("remove control group %s: %w", dir, errors.Join(err, removeTree(dir)))
	}
	return nil
}

func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := removeTree(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return os.Remove(dir)
}
