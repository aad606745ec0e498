// Package config completes the configuration that all servers of a cluster share
// with what depends on the one that is about to start: its version, its address and
// its secrets. It is pure.
package config
