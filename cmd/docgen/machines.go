package main

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// machines are those of all areas.
func machines() (all []machine) {
	for _, a := range areas.All() {
		for _, m := range a.Machines {
			all = append(all, machine{m})
		}
	}
	return all
}

// machine is one that has a reference page.
type machine struct{ areas.Machine }

// constants are those that the kind has.
func (m machine) constants(root string) ([]constant, error) {
	own, err := constants(root, m.Folders...)
	if err != nil || m.Shared == "" {
		return own, err
	}
	shared, err := constants(root, m.Shared)
	if err != nil {
		return nil, err
	}
	files := slices.Clone(m.Mentions)
	for _, folder := range m.Folders {
		files = append(files, folder+"/*.go")
	}
	named, err := mentioned(root, shared, files...)
	return append(own, named...), err
}

// diagrams are the drawings by what markers call them: a kind, or the lanes of one.
func diagrams() map[string]string {
	byKind := map[string]string{}
	for _, m := range machines() {
		byKind[m.Kind] = m.Drawing.Diagram()
		if m.Lanes != "" {
			byKind[m.Kind+" lanes"] = m.Lanes
		}
	}
	return byKind
}

// metrics are those of the adapter and of all areas.
func metrics() []prometheus.Collector {
	all := kube.Metrics()
	for _, a := range areas.All() {
		if a.Metrics != nil {
			all = append(all, a.Metrics()...)
		}
	}
	return all
}
