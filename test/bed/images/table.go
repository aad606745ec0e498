package images

import "slices"

// Tags of the images the bed can make.
const (
	Pause    = "bed.local/pause:1"
	Busybox  = "bed.local/busybox:1"
	Valkey80 = "bed.local/valkey:8.0"
	Valkey81 = "bed.local/valkey:8.1"
	Valkey91 = "bed.local/valkey:9.1"
	// ValkeyNode is what the manager runs in every pod of area valkey, unless it is told otherwise.
	ValkeyNode = "statecraft.local/valkey-node:dev"
	// Action performs the actions of area remediation, unless the manager is told otherwise.
	Action = "statecraft.local/action:dev"
	// Function is what a class of functions runs in tests.
	Function = "bed.local/function:1"
)

// published are the names under which the world knows an image. Docs and samples print these, and the bed
// has every image under both names.
var published = map[string]string{
	Busybox:  "busybox:1.36",
	Valkey80: "valkey/valkey:8.0",
	Valkey81: "valkey/valkey:8.1",
	Valkey91: "valkey/valkey:9.1",
}

// Names are all names of an image on a node: its tag, and the published one if it has one.
func Names(tag string) []string {
	if name, has := published[tag]; has {
		return []string{tag, name}
	}
	return []string{tag}
}

// programs are the images of commands of this repository.
var programs = map[string]string{
	Pause:      "./test/bed/images/pause",
	ValkeyNode: "./cmd/statecraft-valkey-node",
	Action:     "./cmd/statecraft-action",
	Function:   "./test/bed/images/function",
}

// recipes makes every image but those of the repository's own programs.
var recipes = map[string]recipe{
	Busybox:  busybox{},
	Valkey80: valkey{version: "8.0", suites: "bookworm bookworm-backports", pin: "/bookworm-backports"},
	Valkey81: valkey{version: "8.1", suites: "trixie"},
	Valkey91: valkey{version: "9.1", suites: "forky"},
}

// core are the images that tests of every change need, the small ones first; full are those
// that only LEVEL=full needs.
var (
	core = []string{Pause, Busybox, ValkeyNode, Action, Function, Valkey80, Valkey81, Valkey91}
	full []string
)

// Core lists the tags of the images that tests of every change need.
func Core() []string { return slices.Clone(core) }

// All lists the tags of all images.
func All() []string { return slices.Concat(core, full) }
