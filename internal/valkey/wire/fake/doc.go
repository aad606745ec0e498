// Package fake is a Valkey cluster in memory, behind the same interface as a real one.
//
// It models what decides outcomes and nothing else: every server has a view of its
// own, and what one tells another arrives only when somebody delivers it, in any
// order. So a test can stop the cluster between any two messages. There is no
// protocol, and time passes only when it is told to: scripts that run here and on real
// servers must agree.
package fake
