// Package cache is a standing kind, for the kit to be tried on: it keeps one server
// running, heals it, and takes it down with itself. It never ends but by deletion.
package cache
