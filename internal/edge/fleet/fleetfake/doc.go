// Package fleetfake is a Flight Control server with devices, in memory, that does what the real ones were seen to do: specs are
// rendered later than they are edited, and not always in order; agents apply a version all or nothing, roll back one that fails and do
// not try it again, and report no application at first when they return. Nothing happens by itself: a test does each step.
package fleetfake
