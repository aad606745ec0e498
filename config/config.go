// Package config is the one source of what is installed of every area: kinds, accounts and roles, admission policies,
// defaults and alerts. The chart is generated from it, tests install from it, and programs compare a cluster with it.
package config

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
)

//go:embed crd/*/*.yaml rbac/*/*.yaml admission/*/*.yaml defaults/*/*.yaml alerts/*.yaml dashboards/*.json
var manifests embed.FS

// Namespace is the one that the manifests name. They are the same for another, but for its name.
const Namespace = "statecraft-system"

// The folders of manifests, in the order in which they are applied.
const (
	Kinds    = "crd"
	Roles    = "rbac"
	Policies = "admission"
	// Defaults are objects of an area's own kinds, and what they need. The policies look at them as well.
	Defaults = "defaults"
	Alerts   = "alerts"
	// Dashboards are no manifests, but what a ConfigMap holds.
	Dashboards = "dashboards"
)

//go:embed namespace.yaml
var namespaceManifest []byte

// NamespaceFor is the namespace itself, as an administrator should make it: no pod in it can have more than it needs.
func NamespaceFor(name string) []byte {
	return bytes.ReplaceAll(namespaceManifest, []byte(Namespace), []byte(name))
}

// File is one manifest, of one or more objects.
type File struct {
	Name    string // in its folder
	Content []byte
}

// Files are the manifests of an area in a folder, for a product that is installed in a namespace. An area need not
// have any.
func Files(folder, area, namespace string) ([]File, error) {
	pattern := path.Join(folder, area, "*.yaml")
	switch folder {
	case Alerts:
		pattern = path.Join(folder, area+".yaml")
	case Dashboards:
		pattern = path.Join(folder, area+".json")
	}
	names, err := fs.Glob(manifests, pattern)
	if err != nil {
		return nil, fmt.Errorf("find manifests: %w", err)
	}
	files := make([]File, len(names))
	for i, name := range names {
		content, err := manifests.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		files[i] = File{Name: path.Base(name), Content: bytes.ReplaceAll(content, []byte(Namespace), []byte(namespace))}
	}
	return files, nil
}
