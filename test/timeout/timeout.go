// Package timeout names how long tests wait for real processes when time is not what they test. On a busy machine
// what takes moments takes long: these only bound how long a test that fails takes to say so. A test that claims
// something about time has a limit of its own, and adds what harness.Stall says of the machine.
package timeout

import "time"

const (
	// Wait is for something to come about.
	Wait = 3 * time.Minute
	// Build is for a command that may compile what it needs: with an empty cache that is all of Kubernetes.
	Build = 40 * time.Minute
	// Command is for one command to be answered by a server.
	Command = time.Minute
)
