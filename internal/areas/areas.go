// Package areas is the one list of the areas there are. The manager, the generated pages, the
// simulation and the tests of roles, alerts and docs read it; an area joins by a file here.
package areas

import (
	"flag"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/statecraft-dev/statecraft/internal/kube"
)

// ManagerProgram is the command that runs areas, those that it is told by --areas.
const ManagerProgram = "statecraft-manager"

// Area is what the rest of the product needs to know about an area.
type Area struct {
	// Name is that of its api, CRDs, roles, alerts, runbook and election Lease.
	Name string
	// Code is the area's folder in internal, test/sim and test/e2e.
	Code string
	// Program is the command that runs its controllers.
	Program string
	// Images are those that the program is told of: the flag, and the name of the image.
	Images map[string]string
	// Beside are its other accounts, each with a folder in config/rbac.
	Beside []string
	// Setup binds the area's flags, and returns what sets the area up once they are parsed.
	Setup func(*flag.FlagSet) func() kube.AreaSetup
	// Machines are all that the area has, for its reference pages and diagrams.
	Machines []Machine
	// Metrics are the area's own; nil if it has none.
	Metrics func() []prometheus.Collector
}

// All are the areas, in the order in which they are set up.
func All() []Area { return []Area{capture(), valkey(), remediation(), runtime()} }

// Find finds an area by its name.
func Find(name string) (Area, bool) {
	all := All()
	if i := slices.IndexFunc(all, func(a Area) bool { return a.Name == name }); i >= 0 {
		return all[i], true
	}
	return Area{}, false
}

// Default is an area with the default of every flag.
func (a Area) Default() kube.AreaSetup {
	return a.Setup(flag.NewFlagSet(a.Name, flag.ContinueOnError))()
}

// Kinds are those of all areas, whichever are run: a reservation may be held by any.
func Kinds() (all []kube.Kind) {
	for _, a := range All() {
		all = append(all, a.Default().Kinds...)
	}
	return all
}

// Image is the name of the image of the area's program.
func (a Area) Image() string { return strings.TrimPrefix(a.Program, "statecraft-") }

// KindNames are those of the area's machines.
func (a Area) KindNames() (names []string) {
	for _, m := range a.Machines {
		names = append(names, m.Kind)
	}
	return names
}

// Args are those with which the area's program runs this area and no other.
func (a Area) Args() []string {
	if a.Program == ManagerProgram {
		return []string{"--areas=" + a.Name}
	}
	return nil
}
