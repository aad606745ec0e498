// Package spec builds the Kubernetes objects that a ValkeyCluster consists of. It
// is pure: the same cluster gives the same objects, so that they can be compared
// by the hash that each of them bears.
package spec
