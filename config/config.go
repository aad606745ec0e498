// Package config has manifests that the product ships and that its programs compare with what is installed.
package config

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed admission/*/*.yaml
var admission embed.FS

// AdmissionPolicies are the manifests of an area's policies.
func AdmissionPolicies(area string) ([][]byte, error) {
	names, err := fs.Glob(admission, "admission/"+area+"/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("find policies of area %s: %w", area, err)
	}
	files := make([][]byte, len(names))
	for i, name := range names {
		if files[i], err = admission.ReadFile(name); err != nil {
			return nil, fmt.Errorf("read policy %s: %w", name, err)
		}
	}
	return files, nil
}
