package wire

import (
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

// ParseAccount reads ACL GETUSER: names and values by turns.
func ParseAccount(answer any) (a access.Account, err error) {
	list, _ := answer.([]any)
	if len(list) == 0 || len(list)%2 != 0 {
		return a, fmt.Errorf("%w: %.40v is no user", ErrMalformed, answer)
	}
	fields := map[string]any{}
	for i := 0; i < len(list); i += 2 {
		name, _ := list[i].(string)
		fields[name] = list[i+1]
	}
	flags, ok := fields["flags"].([]any)
	if !ok {
		return a, fmt.Errorf("%w: a user without flags", ErrMalformed)
	}
	passwords, ok := fields["passwords"].([]any)
	if !ok {
		return a, fmt.Errorf("%w: a user without a list of passwords", ErrMalformed)
	}
	a.On = slices.Contains(flags, any("on"))
	a.Open = slices.Contains(flags, any("nopass"))
	for _, p := range passwords {
		hash, ok := p.(string)
		if !ok {
			return a, fmt.Errorf("%w: %.40v is no password", ErrMalformed, p)
		}
		a.Passwords = append(a.Passwords, access.Hash(hash))
	}
	return a, nil
}
