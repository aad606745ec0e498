// Rights compares what the accounts of the product may do with what they did, as audit logs of beds show it, and fails
// if a right that was not used has no reason in reasons.yaml, or if a reason is for a right that is not granted.
//
//	rights <audit log>...
package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/hack/rights/ledger"
	"github.com/statecraft-dev/statecraft/internal/areas"
)

//go:embed reasons.yaml
var reasons []byte

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rights:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, logs []string) error {
	if len(logs) == 0 {
		return errors.New("name audit logs that have reads: see docs/contributing/testing.md")
	}
	granted, err := grants()
	if err != nil {
		return err
	}
	because, err := ledger.ParseReasons(reasons)
	if err != nil {
		return err
	}
	l := ledger.New(granted)
	for _, path := range logs {
		if err := enter(l, path); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	show(out, l, because)
	return verdict(out, l.Judge(because))
}

// tenantRoles begin so: users bind them to the account of their namespace, as whom the manager acts.
const tenantRoles, tenantAccount = "statecraft-capture-tenant", "statecraft-capture" + ledger.Impersonated

// grants are the rights of all accounts of all areas.
func grants() (*ledger.Grants, error) {
	var all []*unstructured.Unstructured
	for _, area := range areas.All() {
		for _, folder := range append(area.Beside, area.Name) {
			objects, err := config.Objects(folder, config.Namespace, config.Roles)
			if err != nil {
				return nil, err
			}
			all = append(all, objects...)
		}
	}
	return ledger.Granted(all, func(role string) string {
		if strings.HasPrefix(role, tenantRoles) {
			return tenantAccount
		}
		return ""
	})
}

// enter takes in a log. A bed is killed, so its last line may have no end.
func enter(l *ledger.Ledger, path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		uses, err := ledger.Uses(bytes.TrimSpace(line))
		if err != nil {
			return err
		}
		for _, use := range uses {
			l.Enter(use)
		}
	}
}
