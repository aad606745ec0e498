// Package cgroup gives each node of the bed control groups of its own, below those the bed itself runs in: a
// node never leaves the limits its creator was put under.
package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrVersion2 says that the machine has only cgroup v2, which the bed's nodes were never run on.
var ErrVersion2 = errors.New("this machine has cgroup v2 only; the nodes of the bed need cgroup v1 hierarchies")

// Hierarchy is one mounted cgroup v1 tree.
type Hierarchy struct {
	Controllers []string // "memory"; "cpu", "cpuacct"; "name=systemd"
	Mount       string   // where it is mounted
	Own         string   // the cgroup this process is in, below Mount
}

// Options are the mount options that select this hierarchy.
func (h Hierarchy) Options() string {
	options := strings.Join(h.Controllers, ",")
	if strings.HasPrefix(options, "name=") {
		return "none," + options
	}
	return options
}

// Hierarchies lists the cgroup v1 trees this process is in.
func Hierarchies() ([]Hierarchy, error) {
	own, err := lines("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	mounts, err := lines("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found []Hierarchy
	for _, line := range own {
		fields := strings.SplitN(line, ":", 3) // id:controllers:path
		if len(fields) != 3 || fields[1] == "" {
			continue
		}
		h := Hierarchy{Controllers: strings.Split(fields[1], ",")}
		if h.Mount = mountOf(mounts, h.Controllers); h.Mount == "" {
			continue
		}
		h.Own = filepath.Join(h.Mount, fields[2])
		found = append(found, h)
	}
	if !slices.ContainsFunc(found, func(h Hierarchy) bool { return slices.Contains(h.Controllers, "memory") }) {
		return nil, ErrVersion2
	}
	return found, nil
}

// mountOf finds the mount whose super block has all the controllers among its options.
func mountOf(mountinfo, controllers []string) string {
	for _, line := range mountinfo {
		before, after, ok := strings.Cut(line, " - ")
		fields, super := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(super) < 3 || super[0] != "cgroup" {
			continue
		}
		options := strings.Split(super[2], ",")
		if !slices.ContainsFunc(controllers, func(c string) bool { return !slices.Contains(options, c) }) {
			return fields[4]
		}
	}
	return ""
}

func lines(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read control groups: %w", err)
	}
	defer func() { _ = file.Close() }()
	var all []string
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		all = append(all, scanner.Text())
	}
	return all, scanner.Err()
}
