package wiretest

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var servers = flag.String("servers", "", "addresses of six real servers that may be wiped, separated by commas; default the fake")

// TestScripts runs the scripts on the fake, or on real servers.
func TestScripts(t *testing.T) {
	if *servers != "" {
		Run(t, "testdata", Real(strings.Split(*servers, ","), 3*time.Minute))
		return
	}
	Run(t, "testdata", Fake("8.1.1"))
}

// TestProcessScripts runs those that end and start servers, as every version would.
func TestProcessScripts(t *testing.T) {
	for _, version := range []string{"8.0.1", "8.1.1", "9.1.2"} {
		t.Run(version, func(t *testing.T) { Run(t, "processdata", Fake(version)) })
	}
}
