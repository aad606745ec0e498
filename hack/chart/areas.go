package main

import (
	"fmt"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/areas"
)

// areaFile is what the template of Deployments reads of an area.
type areaFile struct {
	Image  string            `json:"image"`
	Args   []string          `json:"args,omitempty"`
	Images map[string]string `json:"images,omitempty"`
}

// writeAreas tells the template of Deployments which areas there are.
func writeAreas() error {
	all := map[string]areaFile{}
	for _, a := range areas.All() {
		all[a.Name] = areaFile{Image: a.Image(), Args: a.Args(), Images: a.Images}
	}
	content, err := yaml.Marshal(all)
	if err != nil {
		return fmt.Errorf("write areas: %w", err)
	}
	return writeFile(filepath.Join(source, "files", "areas.yaml"),
		append([]byte("# Generated from internal/areas; do not edit.\n"), content...))
}

// writeAlerts copies alerts and dashboards as they are: a template that had them as its own text would take their
// braces for its own.
func writeAlerts() error {
	owners := []string{common}
	for _, a := range areas.All() {
		owners = append(owners, a.Name)
	}
	for _, owner := range owners {
		for _, folder := range []string{config.Alerts, config.Dashboards} {
			if err := copyFiles(folder, owner); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFiles(folder, owner string) error {
	files, err := config.Files(folder, owner, config.Namespace)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := writeFile(filepath.Join(source, "files", folder, file.Name), file.Content); err != nil {
			return err
		}
	}
	return nil
}
