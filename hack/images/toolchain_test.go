package main

import (
	"strings"
	"testing"
)

// One toolchain makes all images, whichever a user has: the digest of valkey-node must depend on its code alone.
func TestOneToolchain(t *testing.T) {
	if !strings.HasPrefix(toolchain(), "go1.") {
		t.Fatalf("%q is no toolchain", toolchain())
	}
	if err := checkToolchain(toolchain()); err != nil {
		t.Error(err)
	}
	if err := checkToolchain("go1.99.0"); err == nil || !strings.Contains(err.Error(), "GOTOOLCHAIN="+toolchain()) {
		t.Error(err)
	}
}
