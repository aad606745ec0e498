// Package observe reads what the machines of the area decide by: devices from Flight Control, in sweeps of a whole pool, and pods,
// Nodes and pools from the API server.
package observe
