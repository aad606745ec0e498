package wire

import (
	"crypto/tls"

	"github.com/valkey-io/valkey-go"
)

// Access is how a client logs on. The zero value is without password and without TLS.
type Access struct {
	// Login returns user and password, anew for every connection: they change while
	// clients live. nil is nobody.
	Login func() (user, password string, err error)
	TLS   *tls.Config
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
	if a.Login != nil {
		o.AuthCredentialsFn = func(valkey.AuthCredentialsContext) (valkey.AuthCredentials, error) {
			user, password, err := a.Login()
			return valkey.AuthCredentials{Username: user, Password: password}, err
		}
	}
	return o
}
