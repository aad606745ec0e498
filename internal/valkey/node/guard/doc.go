// Package guard decides whether a server may open its port, or would have replicas
// copy nothing over the last that is left of the data. It is pure.
//
// A replica dials an address and takes over whatever is served there. So a primary
// that lost its data must not come back as that primary while a replica holds it; nor
// may any server open the address of a primary that another server's replicas still
// look for. The way out is the same: one of these replicas becomes the primary, and
// the server that comes back follows it.
package guard
