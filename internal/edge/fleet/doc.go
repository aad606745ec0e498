// Package fleet is what the area knows of Flight Control, as far as that can be said without asking it: devices as they are
// read, edits of their specs, what its answers mean, and how many requests it still takes. Package flightctl asks.
//
// Devices are read into the fields that are looked at, and written as the raw JSON that was read: a type of ours would erase
// what a newer server has added. Nothing is wired to it yet.
package fleet
