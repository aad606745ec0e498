package runtimetelemetry

import (
	"testing"

	"github.com/statecraft-dev/statecraft/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
