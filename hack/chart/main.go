// Command chart writes what is generated of the chart, and packs it.
//
//	go run ./hack/chart generate
//	go run ./hack/chart pack -version 0.1.0 -registry $REGISTRY -images dist/images.txt -out dist
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// source is the folder of the chart, from the root of the checkout.
const source = "charts/statecraft"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: chart generate | chart pack [flags]")
	}
	switch args[0] {
	case "generate":
		return generate()
	case "pack":
		p, set := pack{}, flag.NewFlagSet("pack", flag.ContinueOnError)
		set.StringVar(&p.version, "version", "", "version of the chart and of the images")
		set.StringVar(&p.registry, "registry", "statecraft.local", "registry that has the images")
		set.StringVar(&p.images, "images", "dist/images.txt", "list of images and their digests")
		set.StringVar(&p.out, "out", "dist", "folder of the package")
		if err := set.Parse(args[1:]); err != nil {
			return err
		}
		return p.write()
	}
	return fmt.Errorf("no such command: %s", args[0])
}

// generate writes templates, what they read, and the values with their reference.
func generate() error {
	for _, write := range []func() error{writeTemplates, writeAreas, writeAlerts, writeValues} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}
