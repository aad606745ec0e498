// Package upgrade is a machine with lanes, for the kit to be tried on. It decides
// how a sharded store is upgraded: one shard after another, replicas first, the
// primary last and only after a failover to a replica that already runs the new image.
package upgrade
