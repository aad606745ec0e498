package fake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

var _ wire.Accessor = (*Cluster)(nil)

// Mount sets the passwords and certificates that servers which are started from now on
// find in their files; those that run find only the certificates, and the program beside
// them the passwords. Without it everybody may do everything.
func (c *Cluster) Mount(secrets access.Secrets, material access.Material) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.secrets, c.material = &secrets, material
	for _, s := range c.servers {
		s.seen = secrets.Newest()
	}
}

// logins is what a server knows of who may log on, and how it logs on itself.
type logins struct {
	accounts map[string]access.Account
	askew    map[string]bool // users with other rights than they should have
	user     string
	password access.Hash
	files    access.MaterialFiles
	shown    string      // the certificate
	session  int         // how often it connected to a primary
	seen     access.Hash // of the files of passwords
}

// readFiles is what a server knows after it started.
func (c *Cluster) readFiles(s *server) {
	s.logins = logins{session: s.session, accounts: map[string]access.Account{}, askew: map[string]bool{}}
	if c.secrets == nil {
		s.accounts[access.Default] = access.Account{On: true, Open: true}
		return
	}
	s.accounts[access.Default] = access.Account{}
	for _, u := range c.secrets.Users(s.version) {
		s.accounts[u.Name] = access.Account{On: true, Passwords: u.Passwords}
	}
	s.user, s.password, s.seen = access.Replication, c.secrets.Replication[0].Hash(), c.secrets.Newest()
	s.files, s.shown = access.FilesOf(""), c.material.Certificate
}

// lets says that a server lets a replica in: it is asked when the replica connects, and
// never again while that lasts.
func (s *server) lets(replica *server) bool {
	user := cmp.Or(replica.user, access.Default)
	is := s.accounts[user]
	return is.On && !s.askew[user] && (is.Open || slices.Contains(is.Passwords, replica.password))
}

// AskAccess implements wire.AccessReader.
func (c *Cluster) AskAccess(_ context.Context, at wire.Target) (out *access.Server, err error) {
	err = c.tell(at, func(s *server) error {
		out = &access.Server{Accounts: map[string]access.Account{}, PrimaryUser: s.user, PrimaryHash: s.password,
			Replica: !s.primary(), Linked: !s.primary() && s.synced, Material: s.files, Files: s.seen}
		if out.Linked {
			out.Connection = fmt.Sprint(s.session)
		}
		for name, a := range s.accounts {
			a.Passwords = slices.Clone(a.Passwords)
			out.Accounts[name] = a
		}
		return nil
	})
	return out, err
}

// Try implements wire.AccessReader. It knows rights as a whole only.
func (c *Cluster) Try(_ context.Context, at wire.Target, probes []access.Probe) (askew []access.Probe, err error) {
	err = c.tell(at, func(s *server) error {
		for _, p := range probes {
			if _, there := s.accounts[p.User]; !there {
				return fmt.Errorf("try %s: %w: no such user", p, wire.ErrRefused)
			}
			if s.askew[p.User] {
				askew = append(askew, p)
			}
		}
		return nil
	})
	return askew, err
}

// Skew makes the rights of a user others than they should be.
func (c *Cluster) Skew(addr, user string) {
	c.set(addr, func(s *server) { s.askew[user] = true })
}

// Certificate implements wire.AccessReader.
func (c *Cluster) Certificate(_ context.Context, at wire.Target) (hash string, err error) {
	err = c.tell(at, func(s *server) error {
		hash = string(access.NewPassword(s.shown).Hash())
		return nil
	})
	return hash, err
}

// Grant implements wire.Accessor.
func (c *Cluster) Grant(_ context.Context, at wire.Target, user access.User) error {
	return c.tell(at, func(s *server) error {
		is := s.accounts[user.Name]
		is.On = !user.Off
		s.accounts[user.Name] = is
		delete(s.askew, user.Name)
		s.add(user.Name, user.Passwords)
		return nil
	})
}

// AddPasswords implements wire.Accessor.
func (c *Cluster) AddPasswords(_ context.Context, at wire.Target, user string, passwords []access.Hash) error {
	return c.tell(at, func(s *server) error {
		s.add(user, passwords)
		return nil
	})
}

func (s *server) add(user string, passwords []access.Hash) {
	is := s.accounts[user]
	for _, p := range passwords {
		if is.Open = false; !slices.Contains(is.Passwords, p) {
			is.Passwords = append(slices.Clone(is.Passwords), p)
		}
	}
	s.accounts[user] = is
}

// DropPasswords implements wire.Accessor.
func (c *Cluster) DropPasswords(_ context.Context, at wire.Target, user string, passwords []access.Hash) error {
	return c.tell(at, func(s *server) error {
		is := s.accounts[user]
		is.Passwords = slices.DeleteFunc(slices.Clone(is.Passwords), func(h access.Hash) bool { return slices.Contains(passwords, h) })
		s.accounts[user] = is
		return nil
	})
}

// RemoveUsers implements wire.Accessor.
func (c *Cluster) RemoveUsers(_ context.Context, at wire.Target, users []string) error {
	return c.tell(at, func(s *server) error {
		for _, u := range users {
			delete(s.accounts, u)
		}
		return nil
	})
}

// SetPrimaryLogin implements wire.Accessor.
func (c *Cluster) SetPrimaryLogin(_ context.Context, at wire.Target, user string, password access.Password) error {
	return c.tell(at, func(s *server) error {
		s.user, s.password = user, password.Hash()
		return nil
	})
}

// Reconnect implements wire.Accessor.
func (c *Cluster) Reconnect(_ context.Context, at wire.Target, connection string) error {
	return c.tell(at, func(s *server) error {
		if !s.primary() && s.synced && connection == fmt.Sprint(s.session) {
			s.synced = false
		}
		return nil
	})
}

// ReloadCertificates implements wire.Accessor. What is not in the files by that name cannot
// be loaded.
func (c *Cluster) ReloadCertificates(_ context.Context, at wire.Target, dir string, files access.MaterialFiles) error {
	return c.tell(at, func(s *server) error {
		mounted := c.material.Files()
		for _, name := range []string{files.Certificate, files.Key, files.Authorities} {
			if strings.TrimSpace(mounted[name]) == "" {
				return fmt.Errorf("load %s/%s: %w", dir, name, wire.ErrRefused)
			}
		}
		s.files, s.shown = files, mounted[files.Certificate]
		return nil
	})
}
