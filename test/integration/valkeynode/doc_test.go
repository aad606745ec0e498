// Package valkeynode tries statecraft-valkey-node on real servers of every version:
// plain processes on addresses of the loopback network.
package valkeynode
