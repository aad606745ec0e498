package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
)

// state is what one command leaves for the next, and for scripts: they read the lines of its strings.
type state struct {
	Supervisor process.Identity
	Servers    map[string]process.Identity
	Nodes      int
	NodePIDs   []int // of the first process of every node
	Since      time.Time
	Kubeconfig string
	Kubectl    string
	CSISocket  string // of the driver; empty without one
	Ready      bool
}

func (o options) path(elements ...string) string {
	return filepath.Join(append([]string{o.dir}, elements...)...)
}

// load returns false if there is no state: nothing was ever started, or it was taken down.
func load(o options) (state, bool, error) {
	var s state
	content, err := os.ReadFile(o.path("state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("read state: %w", err)
	}
	if err := json.Unmarshal(content, &s); err != nil {
		return s, false, fmt.Errorf("parse state: %w", err)
	}
	return s, true, nil
}

// save replaces the state in one step, so that no reader sees half of it.
func (s state) save(o options) error {
	content, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	if err := os.WriteFile(o.path("state.json.new"), content, 0o600); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	if err := os.Rename(o.path("state.json.new"), o.path("state.json")); err != nil {
		return fmt.Errorf("replace state: %w", err)
	}
	return nil
}
