package main

import (
	"slices"

	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// machines lists every machine that has a reference page. A test fails if one that
// exists is not listed.
var machines = []machine{
	of(&keeper.Machine, "internal/capture/keeper"),
	of(&manifestrestore.Machine, "internal/capture/manifestrestore").sharing("internal/capture/act/manifestrestore*.go"),
	of(&manifestcapture.Machine, "internal/capture/manifestcapture", "internal/capture/manifest").sharing("internal/capture/act/manifestcapture*.go"),
	of(&volumecapture.Machine, "internal/capture/volumecapture").sharing("internal/capture/act/volumecapture*.go"),
	of(&volumerestore.Machine, "internal/capture/volumerestore").sharing("internal/capture/restorer/*.go"),
	of(&restorer.Machine, "internal/capture/restorer"),
	of(&cluster.Machine, "internal/valkey/cluster"),
	of(&upgrade.Machine, "internal/valkey/upgrade"),
}

// machine is one kind, without its type parameters.
type machine struct {
	kind     string
	drawing  drawing
	lanes    string   // the diagram of one lane, if there are any
	packages []string // where its phases, reasons and events are declared
	// shares are files that give reasons besides those packages. Reasons that several kinds share are declared in their
	// api; a kind has those that it mentions.
	shares []string
}

type drawing interface {
	Reference() string
	Diagram() string
	Reasons() []fsm.Reason
}

// of describes a machine: m, and the folders that declare its constants.
func of[T fsm.Subject[T], W any](m *fsm.Machine[T, W], packages ...string) machine {
	described := machine{kind: m.Kind, drawing: m, packages: packages}
	if m.Lanes != nil {
		described.lanes = m.Lanes.Diagram()
	}
	return described
}

func (m machine) sharing(files ...string) machine {
	m.shares = files
	return m
}

// sharedBy is where reasons are declared that several kinds have.
const sharedBy = "api/capture/v1alpha1"

// constants are those that the kind has.
func (m machine) constants(root string) ([]constant, error) {
	own, err := constants(root, m.packages...)
	if err != nil || m.shares == nil {
		return own, err
	}
	shared, err := constants(root, sharedBy)
	if err != nil {
		return nil, err
	}
	files := slices.Clone(m.shares)
	for _, folder := range m.packages {
		files = append(files, folder+"/*.go")
	}
	named, err := mentioned(root, shared, files...)
	return append(own, named...), err
}

// diagrams are the drawings by what markers call them: a kind, or the lanes of one.
func diagrams() map[string]string {
	byKind := map[string]string{}
	for _, m := range machines {
		byKind[m.kind] = m.drawing.Diagram()
		if m.lanes != "" {
			byKind[m.kind+" lanes"] = m.lanes
		}
	}
	return byKind
}
