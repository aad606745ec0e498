package wire

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

const (
	primaryUser = "primaryuser"
	primaryAuth = "primaryauth"

	certificateFile = "tls-cert-file"
	keyFile         = "tls-key-file"
	authoritiesFile = "tls-ca-cert-file"
)

// AskAccess implements AccessReader. It is two round trips: users are asked for by name.
func (c *Client) AskAccess(ctx context.Context, at Target) (*access.Server, error) {
	if _, err := c.self(ctx, at); err != nil {
		return nil, err
	}
	replies, err := c.do(ctx, at,
		[]string{"ACL", "USERS"},
		[]string{"CONFIG", "GET", primaryUser, primaryAuth, certificateFile, keyFile, authoritiesFile},
		[]string{"ROLE"},
		[]string{"CLIENT", "LIST", "TYPE", "PRIMARY"},
	)
	if err != nil {
		return nil, err
	}
	s := &access.Server{Accounts: map[string]access.Account{}}
	if err := readSettings(s, replies[1]); err != nil {
		return nil, fmt.Errorf("ask %s: %w", at.Addr, err)
	}
	if err := readLink(s, replies[2], replies[3]); err != nil {
		return nil, fmt.Errorf("ask %s: %w", at.Addr, err)
	}
	users, err := replies[0].AsStrSlice()
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w: %w", at.Addr, ErrMalformed, err)
	}
	return s, c.accounts(ctx, at, s, users)
}

func (c *Client) accounts(ctx context.Context, at Target, s *access.Server, users []string) error {
	commands := make([][]string, 0, len(users))
	for _, u := range users {
		commands = append(commands, []string{"ACL", "GETUSER", u})
	}
	replies, err := c.do(ctx, at, commands...)
	if err != nil {
		return err
	}
	for i, reply := range replies {
		if reply.IsNil() {
			continue // it was removed just now
		}
		answer, err := reply.ToAny()
		if err != nil {
			return fmt.Errorf("ask %s: %w: %w", at.Addr, ErrMalformed, err)
		}
		account, err := ParseAccount(answer)
		if err != nil {
			return fmt.Errorf("ask %s: %w", at.Addr, err)
		}
		if users[i] != access.Files {
			s.Accounts[users[i]] = account
		} else if len(account.Passwords) == 1 {
			s.Files = account.Passwords[0]
		}
	}
	return nil
}

// readSettings reads how the server logs on. Its password is in the answer, and ends here.
func readSettings(s *access.Server, reply valkey.ValkeyMessage) error {
	settings, err := reply.AsStrMap()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	s.PrimaryUser = settings[primaryUser]
	if password := settings[primaryAuth]; password != "" {
		s.PrimaryHash = access.NewPassword(password).Hash()
	}
	if settings[certificateFile] != "" {
		s.Material = access.MaterialFiles{
			Certificate: filepath.Base(settings[certificateFile]),
			Key:         filepath.Base(settings[keyFile]),
			Authorities: filepath.Base(settings[authoritiesFile]),
		}
	}
	return nil
}

// readLink reads what the server says of its link to a primary. The link is named by its
// own end.
//
// NOTE: the ID of the link's client says nothing: after a short break the server takes up
// the client that it had.
func readLink(s *access.Server, role, clients valkey.ValkeyMessage) error {
	answer, err := role.ToAny()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	r, err := ParseRole(answer)
	if err != nil {
		return err
	}
	list, err := clients.ToString()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	s.Replica, s.Linked = !r.Primary, !r.Primary && r.Synced
	for word := range strings.FieldsSeq(list) {
		if end, is := strings.CutPrefix(word, "laddr="); is {
			s.Connection = end
		}
	}
	return nil
}
