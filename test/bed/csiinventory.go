package bed

import (
	"fmt"
	"os"
	"strings"
)

const (
	snapshotExtension = ".snap"
	driverMemory      = "state.json"
)

// Volumes are the handles of all volumes the backend has, by its files and not by what the driver remembers.
func (c *CSIDriver) Volumes() ([]string, error) {
	return c.files(func(name string) (string, bool) {
		return name, !strings.HasSuffix(name, snapshotExtension) && !strings.HasPrefix(name, driverMemory)
	})
}

// Snapshots are the handles of all snapshots the backend has, by its files and not by what the driver remembers.
func (c *CSIDriver) Snapshots() ([]string, error) {
	return c.files(func(name string) (string, bool) { return strings.CutSuffix(name, snapshotExtension) })
}

// files are in the order of their names.
func (c *CSIDriver) files(handle func(name string) (string, bool)) ([]string, error) {
	entries, err := os.ReadDir(c.backend())
	if err != nil {
		return nil, fmt.Errorf("list backend: %w", err)
	}
	handles := []string{}
	for _, entry := range entries {
		if h, ok := handle(entry.Name()); ok {
			handles = append(handles, h)
		}
	}
	return handles, nil
}
