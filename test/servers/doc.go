// Package servers finds Valkey servers of several versions that run as plain
// processes, without containers and without root.
package servers
