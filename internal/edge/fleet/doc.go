// Package fleet is what the area knows of Flight Control, as far as that can be said without asking it: devices as they are
// read, edits of their specs, what its answers mean, and how many requests it still takes. Package flightctl asks.
//
// Devices are read into the fields that are looked at, and written as the raw JSON that was read: a type of ours would erase
// what a newer server has added.
//
// What Flight Control says of a device may be older than what it said before. After each rendering its worker writes back, without a
// precondition, the whole status that it had read before, also over a report of the agent that came in between. Until the agent
// reports again, which it does once a minute by default, its report is the older one. So evidence that an agent gave is not
// remembered as given, and each verdict takes the reported version with it: an older report has an older version than was rendered.
package fleet
