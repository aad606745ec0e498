package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// compiler makes the binary of a program for a platform in the file out.
type compiler func(ctx context.Context, p program, platform v1.Platform, out string) error

// checkout compiles what is in a folder. Nothing of the folder, its history or the caller's
// settings of Go reaches the binary, so that everybody gets the same bytes.
type checkout struct {
	root            string
	version, commit string
	env             []string
}

func (c checkout) compile(ctx context.Context, p program, platform v1.Platform, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("find folder of binaries: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", c.linkerFlags(p), "-o", out, p.Package)
	cmd.Dir = c.root
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Env = append(cmd.Env,
		"CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture,
		"GOTOOLCHAIN="+toolchain(), "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compile %s for %s: %w", p.Package, platform, err)
	}
	return nil
}

func (c checkout) linkerFlags(p program) string {
	flags := "-s -w"
	if p.Versioned {
		flags += " -X " + module + "/internal/version.version=" + c.version +
			" -X " + module + "/internal/version.commit=" + c.commit
	}
	return flags
}
