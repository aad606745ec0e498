package wire

import (
	"context"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

// AccessReader asks servers about access.
type AccessReader interface {
	// AskAccess returns all that the server says of its users and of how it logs on.
	AskAccess(ctx context.Context, at Target) (*access.Server, error)
	// Try asks whether users could do what the probes say, and returns those whose answer
	// is not the one that they should have. Nothing is done.
	Try(ctx context.Context, at Target, probes []access.Probe) ([]access.Probe, error)
	// Certificate is the SHA-256 of the certificate that the server shows to those who
	// connect now, in hexadecimal.
	Certificate(ctx context.Context, at Target) (string, error)
}

// Accessor tells servers who may do what. Every command names the end state, so that
// repeating it is harmless, and is refused by a server that is not the one meant. What is
// told is in the server's memory alone: what it starts with next time is in its files.
type Accessor interface {
	AccessReader
	// Grant makes a user able to do what its rules say and nothing else, with its passwords
	// besides those that it has. The user is made if there is none.
	Grant(ctx context.Context, at Target, user access.User) error
	// AddPasswords makes passwords of a user valid, besides those that are.
	AddPasswords(ctx context.Context, at Target, user string, passwords []access.Hash) error
	// DropPasswords makes passwords of a user invalid. Who is logged on stays so.
	DropPasswords(ctx context.Context, at Target, user string, passwords []access.Hash) error
	// RemoveUsers removes users, and ends their connections.
	RemoveUsers(ctx context.Context, at Target, users []string) error
	// SetPrimaryLogin sets what the server shows to other servers from its next connection
	// on: to its primary, and to the target of slots.
	SetPrimaryLogin(ctx context.Context, at Target, user string, password access.Password) error
	// Reconnect breaks a connection of the server to its primary, which it makes again at
	// once and without a copy of all data. Of one that is gone nothing is asked.
	Reconnect(ctx context.Context, at Target, connection string) error
	// ReloadCertificates makes the server read its certificate, its key and the authorities
	// from files of a directory: all of them, or none. Connections that stand are left alone.
	ReloadCertificates(ctx context.Context, at Target, dir string, files access.MaterialFiles) error
}
