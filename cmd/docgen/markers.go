package main

import (
	"fmt"
	"os"
	"strings"
)

const (
	opening = "<!-- generated:diagram "
	closing = "<!-- /generated -->"
)

// fillFile rewrites a file only if its text changes.
func fillFile(file string, byKind map[string]string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	filled, err := fill(string(text), byKind)
	if err != nil {
		return fmt.Errorf("fill %s: %w", file, err)
	}
	if filled == string(text) {
		return nil
	}
	return os.WriteFile(file, []byte(filled), 0o644)
}

// fill puts the diagram of the named kind between each pair of markers.
func fill(text string, byKind map[string]string) (string, error) {
	before, rest, found := strings.Cut(text, opening)
	if !found {
		return text, nil
	}
	name, rest, ok := strings.Cut(rest, "-->")
	kind := strings.TrimSpace(name)
	if !ok || strings.Contains(name, "\n") {
		return "", fmt.Errorf("the marker of %q does not end on its line", kind)
	}
	diagram, known := byKind[kind]
	if !known {
		return "", fmt.Errorf("a marker names the unknown kind %q", kind)
	}
	_, after, ok := strings.Cut(rest, closing)
	if !ok {
		return "", fmt.Errorf("nothing closes the marker of %s", kind)
	}
	after, err := fill(after, byKind)
	return before + opening + kind + " -->\n" + diagram + closing + after, err
}
