package harness

import (
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

// Main runs the tests of a package that talks to an API server, and ends its beds.
func Main(m *testing.M) {
	log.SetLogger(logr.Discard()) // the client insists on one
	bedtest.Main(m)
}
