// Package class decides how a class of functions is deployed. It applies the children of each
// function, waits until all replicas are ready, and says truthfully when they are not any more: which pod,
// why, and who must act. It scales nothing by itself.
package class
