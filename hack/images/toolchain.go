package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed go.mod
var goMod string

// toolchain is the one that makes images: compiler and compression of another make other bytes of the same code.
func toolchain() string {
	for line := range strings.Lines(goMod) {
		if name, is := strings.CutPrefix(strings.TrimSpace(line), "toolchain "); is {
			return name
		}
	}
	return "local"
}

// checkToolchain refuses to make images with another toolchain than users got so far.
func checkToolchain(is string) error {
	if want := toolchain(); want != is {
		return fmt.Errorf("this is %s, and images are made with %s: set GOTOOLCHAIN=%s", is, want, want)
	}
	return nil
}
