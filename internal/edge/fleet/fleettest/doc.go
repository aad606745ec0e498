// Package fleettest runs scripts on a Flight Control server with one device, be it real or the fake: what a script shows must be the
// same on both, or the fake is wrong. The agent of the device is scripted on both.
package fleettest
