package wire

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

var _ Accessor = (*Client)(nil)

// Grant implements Accessor.
func (c *Client) Grant(ctx context.Context, at Target, user access.User) error {
	words := append([]string{"ACL", "SETUSER", user.Name}, user.Grant()...)
	for _, p := range user.Passwords {
		words = append(words, "#"+string(p))
	}
	return c.toldAs(ctx, at, words)
}

// AddPasswords implements Accessor.
func (c *Client) AddPasswords(ctx context.Context, at Target, user string, passwords []access.Hash) error {
	words := []string{"ACL", "SETUSER", user}
	for _, p := range passwords {
		words = append(words, "#"+string(p))
	}
	return c.toldAs(ctx, at, words)
}

// DropPasswords implements Accessor. That one is not known is no mistake.
func (c *Client) DropPasswords(ctx context.Context, at Target, user string, passwords []access.Hash) error {
	s, err := c.AskAccess(ctx, at)
	if err != nil {
		return err
	}
	words := []string{"ACL", "SETUSER", user}
	for _, p := range passwords {
		if s.Knows(user, p) { // one that it does not know would keep the others from being dropped
			words = append(words, "!"+string(p))
		}
	}
	if len(words) == 3 {
		return nil
	}
	return c.toldAs(ctx, at, words)
}

// RemoveUsers implements Accessor.
func (c *Client) RemoveUsers(ctx context.Context, at Target, users []string) error {
	if len(users) == 0 {
		return nil
	}
	return c.toldAs(ctx, at, append([]string{"ACL", "DELUSER"}, users...))
}

// SetPrimaryLogin implements Accessor.
func (c *Client) SetPrimaryLogin(ctx context.Context, at Target, user string, password access.Password) error {
	return c.toldAs(ctx, at, []string{"CONFIG", "SET", primaryUser, user, primaryAuth, password.Reveal()})
}

// Reconnect implements Accessor.
func (c *Client) Reconnect(ctx context.Context, at Target, connection string) error {
	return c.toldAs(ctx, at, []string{"CLIENT", "KILL", "TYPE", "PRIMARY", "LADDR", connection})
}

// ReloadCertificates implements Accessor.
func (c *Client) ReloadCertificates(ctx context.Context, at Target, dir string, files access.MaterialFiles) error {
	return c.toldAs(ctx, at, []string{
		"CONFIG", "SET",
		certificateFile, filepath.Join(dir, files.Certificate),
		keyFile, filepath.Join(dir, files.Key),
		authoritiesFile, filepath.Join(dir, files.Authorities),
	})
}

// toldAs looks who answers, and tells only the one that is meant.
func (c *Client) toldAs(ctx context.Context, at Target, command []string) error {
	if _, err := c.self(ctx, at); err != nil {
		return err
	}
	return c.tell(ctx, at, command)
}

var errClear = errors.New("it is reached without TLS")

// Certificate implements AccessReader.
func (c *Client) Certificate(ctx context.Context, at Target) (string, error) {
	if _, err := c.self(ctx, at); err != nil {
		return "", err
	}
	if c.access.TLS == nil {
		return "", fmt.Errorf("see the certificate of %s: %w: %w", at.Addr, ErrRefused, errClear)
	}
	ctx, cancel := context.WithTimeout(ctx, c.dial.Timeout)
	defer cancel()
	conn, err := connect(ctx, at.Addr, &c.dial, c.access.TLS)
	if err != nil {
		return "", fmt.Errorf("connect to %s: %w", at.Addr, classify(err))
	}
	defer func() { _ = conn.Close() }()
	sum := sha256.Sum256(conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw)
	return hex.EncodeToString(sum[:]), nil
}

// Try implements AccessReader.
func (c *Client) Try(ctx context.Context, at Target, probes []access.Probe) (askew []access.Probe, err error) {
	if _, err := c.self(ctx, at); err != nil {
		return nil, err
	}
	commands := make([][]string, 0, len(probes))
	for _, p := range probes {
		commands = append(commands, append([]string{"ACL", "DRYRUN", p.User}, p.Words...))
	}
	replies, err := c.do(ctx, at, commands...)
	if err != nil {
		return nil, err
	}
	for i, reply := range replies {
		answer, err := reply.ToString()
		if err != nil {
			return nil, fmt.Errorf("try %s at %s: %w: %w", probes[i], at.Addr, ErrMalformed, err)
		}
		if strings.EqualFold(answer, "OK") != probes[i].Allowed {
			askew = append(askew, probes[i])
		}
	}
	return askew, nil
}
