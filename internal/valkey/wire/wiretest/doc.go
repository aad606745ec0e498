// Package wiretest runs scripts on a Valkey cluster, be it real or the fake: what a
// script shows must be the same on both, or the fake is wrong. The scripts in testdata
// need servers, those in processdata can end and start them as well.
package wiretest
