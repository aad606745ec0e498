// Package topology joins what Kubernetes says of the pods of a cluster with what
// the servers in them say of themselves and of each other. It is pure.
//
// A pod's server is the one that answers at the pod's address; what it is called
// is what it answers to CLUSTER MYID. An ordinal is an address and an IP
// identifies nothing: roles move, and addresses are handed to other pods.
//
// Nothing here decides. It answers questions, each with a witness, so that a
// status can say which server is in the way.
package topology
