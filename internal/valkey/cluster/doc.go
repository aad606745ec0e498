// Package cluster decides how a ValkeyCluster comes to be and what becomes of it:
// from its children in Kubernetes to servers that have met, slots that are owned
// and replicas that follow. It is pure.
//
// What may have data in it is never touched by a command of creation. Servers are
// introduced, given slots and made replicas only while they hold nothing, and
// never once the cluster was formed: whatever is missing then is lost or to be
// healed, not to be made.
//
// # Writes
//
// The least number of writes to the API server that make a cluster of M shards:
//
//	Services                                           2
//	ConfigMap, and the mark that it was formed         2
//	PodDisruptionBudget                                1
//	StatefulSets                                       M
//	reservation, taken and given back                  2
//	status: Pending, WaitingForPods, InitializingCluster,
//	AssigningSlots, ConfiguringReplicas, Running       6
//
// which is 13 + M. Creating and VerifyingClusterHealth only wait, and as a rule for
// what the phase before them has waited for already: they are passed in the chain
// that leads to the next.
package cluster
