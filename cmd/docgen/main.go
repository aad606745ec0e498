// Docgen writes what the documents say about machines from the machines themselves:
// a page per kind in docs/reference, the diagrams between markers in docs/areas, the
// list of metrics, and the commands of the plugin.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/plugin"
)

func main() {
	root := flag.String("C", ".", "root of the checkout")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	pages, err := reference(root)
	if err != nil {
		return err
	}
	if err := writeReference(filepath.Join(root, "docs/reference"), pages); err != nil {
		return err
	}
	areas, err := filepath.Glob(filepath.Join(root, "docs/areas/*.md"))
	if err != nil {
		return fmt.Errorf("find area pages: %w", err)
	}
	for _, file := range areas {
		if err := fillFile(file, diagrams()); err != nil {
			return err
		}
	}
	return nil
}

// reference makes all pages of docs/reference, by the names of their files.
func reference(root string) (map[string]string, error) {
	kernel, err := constants(root, "internal/fsm", "internal/kube")
	if err != nil {
		return nil, err
	}
	kernelText, err := kernelPage(kernel)
	if err != nil {
		return nil, err
	}
	pages := map[string]string{"metrics.md": metricsPage(metrics()), "kernel.md": kernelText, "cli.md": cliPage(plugin.NewCommand())}
	all := messagesHead
	for _, m := range machines() {
		said, err := m.constants(root)
		if err != nil {
			return nil, err
		}
		page, err := m.page(said, kernel)
		if err != nil {
			return nil, err
		}
		pages[strings.ToLower(m.Kind)+".md"] = page
		messages, err := m.messages(root, m.reasons(said, kernel))
		if err != nil {
			return nil, err
		}
		all += "\n## " + m.Kind + "\n\n" + messages
	}
	pages["messages.md"] = all
	return pages, nil
}

// writeReference leaves nothing else in dir: a kind that is gone takes its page along.
func writeReference(dir string, pages map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder of reference: %w", err)
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.md"))
	errs := []error{err}
	for _, file := range old {
		if _, kept := pages[filepath.Base(file)]; !kept {
			errs = append(errs, os.Remove(file))
		}
	}
	for name, text := range pages {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}

func table(head string, rows []string) string {
	rule := strings.Repeat("|---", strings.Count(head, "|")-1) + "|"
	return head + "\n" + rule + "\n" + strings.Join(rows, "\n") + "\n"
}
