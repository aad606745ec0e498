package harness

import "os"

// Full says that the long tests are wanted (LEVEL=full), not only those of every change.
func Full() bool { return os.Getenv("LEVEL") == "full" }

// ByLevel is how often something is tried: core for every change, full for long runs.
func ByLevel[V any](core, full V) V {
	if Full() {
		return full
	}
	return core
}
