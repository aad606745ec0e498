// Package valkeywire runs the scripts of the Valkey door on real servers, as plain
// processes.
package valkeywire
