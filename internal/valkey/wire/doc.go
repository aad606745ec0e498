// Package wire is the interface to Valkey servers: what may be asked of one, what it
// may be told, and the client that does so. What a server answers comes back as
// topology; what it refuses comes back as typed errors.
//
// Asking and telling are two interfaces, so that whoever only looks cannot change
// anything. Every command is addressed to a server by its ID: an address may have
// been handed to another pod since it was seen.
package wire
