// Package device says how a device is from what Flight Control says of it: its state as a table, whether it has taken the last
// version of its spec, and whether an application is gone from it. It remembers nothing, so nothing can be lost: the same
// answers of Flight Control have the same meaning after a restart.
package device
