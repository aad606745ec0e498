package wiretest

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire/fake"
)

var servers = flag.String("servers", "", "addresses of six real servers that may be wiped, separated by commas; default the fake")

// TestScripts runs the scripts on the fake, or on real servers.
func TestScripts(t *testing.T) {
	if *servers != "" {
		Run(t, "testdata", Real(strings.Split(*servers, ",")))
		return
	}
	Run(t, "testdata", func(*testing.T) Cluster {
		c := fake.New()
		var addrs []string
		for i := range Servers {
			addrs = append(addrs, fmt.Sprintf("10.0.0.%d:6379", i+1))
			c.Start(addrs[i], "8.1.1")
		}
		return Cluster{Reader: c, Writer: c, Addrs: addrs, Until: func(context.Context, func() bool) error {
			c.Settle()
			return nil
		}}
	})
}
