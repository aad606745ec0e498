// Package node decides what to write of the Node and the Lease of a device, from what is seen and from the time. It keeps three
// rules. A Node that is not ours by its providerID is never written. A Node is never deleted while a pod is bound to it: without
// it the cluster would delete the pods by force, and a StatefulSet would run twice. And a Lease says that we live, not that
// the device does: it is renewed for every Node of ours that exists, before Flight Control is asked anything.
package node
