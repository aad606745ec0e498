package valkeynode

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets more clusters run side by side than there are processors: they wait
// for timeouts most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
