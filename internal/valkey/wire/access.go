package wire

import (
	"crypto/tls"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

// Access is how a client logs on. The zero value is without password and without TLS.
type Access struct {
	// Login returns a user and its passwords, anew for every connection: they change while
	// clients live. Of several the server takes one, and the first is tried first: while a
	// password is changed, servers differ in which they know. nil is nobody.
	Login func() (user string, passwords []access.Password, err error)
	TLS   *tls.Config

	mark string // that the server at the other end must bear; "" is not to ask
}

// marked is the access to no server but the one that bears a mark.
func (a Access) marked(mark string) Access {
	a.mark = mark
	return a
}

// NewClientWith returns a client without connections that logs on.
func NewClientWith(a Access) *Client {
	c := NewClient()
	c.access = a
	return c
}

// Apply adds the access to the options of a client.
func (a Access) Apply(o valkey.ClientOption) valkey.ClientOption {
	o.TLSConfig = a.TLS
	if a.Login != nil || a.mark != "" {
		o.DialCtxFn = a.dial
	}
	return o
}
