package main

import (
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
	of(&manifestrestore.Machine, "internal/capture/manifestrestore", "api/capture/v1alpha1"),
	of(&manifestcapture.Machine, "internal/capture/manifestcapture", "api/capture/v1alpha1"),
	of(&volumecapture.Machine, "internal/capture/volumecapture", "api/capture/v1alpha1"),
	of(&volumerestore.Machine, "internal/capture/volumerestore", "api/capture/v1alpha1"),
	of(&restorer.Machine, "internal/capture/restorer"),
	of(&cluster.Machine, "internal/valkey/cluster"),
	of(&upgrade.Machine, "internal/valkey/upgrade"),
}

// machine is one kind, without its type parameters.
type machine struct {
	kind     string
	drawing  drawing
	packages []string // where its phases, reasons and events are declared
}

type drawing interface {
	Reference() string
	Mermaid() string
	Reasons() []fsm.Reason
}

// of describes a machine: m, and the folders that declare its constants.
func of[T fsm.Subject[T], W any](m *fsm.Machine[T, W], packages ...string) machine {
	return machine{kind: m.Kind, drawing: m, packages: packages}
}

// diagrams are the drawings by kind.
func diagrams() map[string]string {
	byKind := map[string]string{}
	for _, m := range machines {
		byKind[m.kind] = "```mermaid\n" + m.drawing.Mermaid() + "```\n"
	}
	return byKind
}
