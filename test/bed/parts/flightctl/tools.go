//go:build tools

// Package flightctl pins the Flight Control server that the bed runs.
package flightctl

import (
	_ "github.com/flightctl/flightctl/cmd/flightctl-api"
	_ "github.com/flightctl/flightctl/cmd/flightctl-db-migrate"
	_ "github.com/flightctl/flightctl/cmd/flightctl-periodic"
	_ "github.com/flightctl/flightctl/cmd/flightctl-worker"
)
