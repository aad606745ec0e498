// Law checks the import law, or lists the packages of a group of tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/statecraft-dev/statecraft/internal/law"
)

func main() {
	dir := flag.String("C", ".", "folder of the module")
	tags := flag.String("tags", "", "build tags, comma-separated: full for the packages of level full")
	group := flag.String("tests", "", "list the tested packages of this group instead of checking")
	flag.Parse()
	if err := run(*dir, *tags, *group); err != nil {
		fmt.Fprintln(os.Stderr, "law:", err)
		os.Exit(1)
	}
}

func run(dir, tags, group string) error {
	tree, err := law.Load(context.Background(), dir, tags)
	if err != nil {
		return err
	}
	if group != "" {
		paths, err := tree.Group(group)
		for _, p := range paths {
			fmt.Println(p)
		}
		return err
	}
	breaches := tree.Check()
	for _, b := range breaches {
		fmt.Fprintln(os.Stderr, b)
	}
	if len(breaches) > 0 {
		return fmt.Errorf("%d breaches of the import law", len(breaches))
	}
	fmt.Printf("import law: %d packages keep %d rules\n", len(tree.Packages), len(law.Rules))
	return nil
}
