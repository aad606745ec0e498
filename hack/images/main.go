// Images builds the container images of the product from nothing, and hands them on.
//
//	images build -version V [-commit C] -root . -out dist    OCI layouts, lists of their modules (SPDX), images.txt
//	images list -dir dist                                    every file in them, and sizes
//	images push -registry R -dir dist                        into a registry, by the tag V
//	images archive -registry R -dir dist -out images.tar     into one file, for nodes without a registry
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

var errUsage = errors.New("usage: images build|list|push|archive [flags]")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	f, err := parse(args)
	if err != nil {
		return err
	}
	if args[0] == "build" {
		return f.build(ctx)
	}
	images, err := readAll(f.dir)
	if err != nil {
		return err
	}
	switch args[0] {
	case "list":
		return listAll(images, os.Stdout)
	case "push":
		return pushAll(ctx, images, f.registry, f.insecure, os.Stdout)
	case "archive":
		return archiveAll(images, f.registry, f.platforms, f.out)
	}
	return errUsage
}

type flags struct {
	root, version, commit, dir, out, registry string
	platforms                                 []v1.Platform
	insecure                                  bool
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.StringVar(&f.root, "root", "../..", "checkout to build")
	set.StringVar(&f.version, "version", "", "version to build, which is a tag, too")
	set.StringVar(&f.commit, "commit", "", "commit that it is built from")
	set.StringVar(&f.dir, "dir", "dist", "folder that build wrote")
	set.StringVar(&f.out, "out", "dist", "folder to build in, or file of the archive")
	set.StringVar(&f.registry, "registry", "", "where images are, as they are named: <registry>/<name>")
	set.BoolVar(&f.insecure, "insecure", false, "push without TLS")
	platforms := set.String("platforms", "", "platforms to build or to archive, comma-separated; all if empty")
	if err := set.Parse(args[1:]); err != nil {
		return f, err
	}
	for text := range strings.FieldsFuncSeq(*platforms, func(r rune) bool { return r == ',' }) {
		platform, err := v1.ParsePlatform(text)
		if err != nil {
			return f, err
		}
		f.platforms = append(f.platforms, *platform)
	}
	if f.registry == "" && (args[0] == "push" || args[0] == "archive") {
		return f, errors.New("give -registry")
	}
	return f, nil
}

// all platforms that the product is built for.
var all = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

func (f flags) build(ctx context.Context) error {
	if f.version == "" {
		return errors.New("give -version")
	}
	if err := checkToolchain(runtime.Version()); err != nil {
		return err
	}
	if len(f.platforms) == 0 {
		f.platforms = all
	}
	c := checkout{root: f.root, version: f.version, commit: f.commit}
	return builder{compile: c.compile, version: f.version, commit: f.commit, platforms: f.platforms, out: f.out}.build(ctx)
}
