package node

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Access is how this program logs on to servers. Secrets are named by file: what is
// in arguments and in the environment can be read by others, and does not change.
type Access struct {
	User         string
	PasswordFile string
	// TLSDir holds ca.crt; "" is without TLS.
	TLSDir string
	// ServerName is what all servers' certificates are for: they are found by address.
	ServerName string
}

var errNoCertificate = errors.New("no certificate in it")

// wire is the access as a client takes it.
func (a Access) wire() (wire.Access, error) {
	var w wire.Access
	if a.PasswordFile != "" {
		w.Login = func() (string, string, error) {
			password, err := secret(a.PasswordFile)
			return a.User, password, err
		}
	}
	if a.TLSDir == "" {
		return w, nil
	}
	file := filepath.Join(a.TLSDir, "ca.crt")
	text, err := os.ReadFile(file)
	if err != nil {
		return w, fmt.Errorf("read authorities: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return w, fmt.Errorf("read authorities from %s: %w", file, errNoCertificate)
	}
	w.TLS = &tls.Config{RootCAs: roots, ServerName: a.ServerName, MinVersion: tls.VersionTLS12}
	return w, nil
}

// client logs on to any server of the cluster.
func (a Access) client() (*wire.Client, error) {
	w, err := a.wire()
	if err != nil {
		return nil, err
	}
	return wire.NewClientWith(w), nil
}

// secret reads a password; the end of a line is not part of it.
func secret(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
