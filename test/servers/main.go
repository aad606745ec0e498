package servers

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// sideBySide is how many clusters run at once: they wait more than they work.
const sideBySide = "12"

// Main is TestMain for tests whose servers are processes.
func Main(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", sideBySide); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
