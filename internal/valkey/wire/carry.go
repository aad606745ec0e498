package wire

import (
	"context"
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

// Carry tells a server one step of a change of access.
func Carry(ctx context.Context, to Accessor, at Target, step access.Step) error {
	switch s := step.(type) {
	case access.Grant:
		return to.Grant(ctx, at, s.User)
	case access.AddPasswords:
		return to.AddPasswords(ctx, at, s.User, s.Passwords)
	case access.SetPrimaryLogin:
		return to.SetPrimaryLogin(ctx, at, s.User, s.Password)
	case access.Reconnect:
		return to.Reconnect(ctx, at, s.Connection)
	case access.LoadCertificates:
		return to.ReloadCertificates(ctx, at, s.Dir, access.FilesOf(s.Material))
	case access.DropPasswords:
		return to.DropPasswords(ctx, at, s.User, s.Passwords)
	case access.RemoveUsers:
		return to.RemoveUsers(ctx, at, s.Users)
	}
	return fmt.Errorf("%w: %s is no step", ErrRefused, step)
}
