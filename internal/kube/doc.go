// Package kube is the only adapter between machines and controller-runtime. It
// runs the pass that every controller shares
//
//	Get → Observe → Step → act → Reduce → Save → trace → look again
//
// and owns what a pass needs of the API server: the status (Store), effects on
// children (Writer), reservations of targets, watches that may be missing,
// workers and samplers for what takes long or lives outside, events and metrics.
//
// An area gives it three things: a machine, an Observe that is handed readers
// only (package read), and an Act with one function per effect that is handed a
// Writer. Everything is built from an Env, so that the simulation can build the
// same controller over a client that fails on purpose and a clock that it sets.
package kube
