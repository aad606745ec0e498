package access

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// ErrMalformed says that a user or a password is not what servers take for one.
var ErrMalformed = errors.New("malformed access")

// Password is a password that does not show itself: neither in a log, nor in a status,
// nor in an error.
type Password struct{ text string }

const hidden = "(hidden)"

// NewPassword hides a text.
func NewPassword(text string) Password { return Password{text: text} }

// Reveal is the password itself, for whoever sends it to a server.
func (p Password) Reveal() string { return p.text }

// Hash is the password as servers keep it. It may be shown.
func (p Password) Hash() Hash {
	sum := sha256.Sum256([]byte(p.text))
	return Hash(hex.EncodeToString(sum[:]))
}

// String hides the password.
func (p Password) String() string { return hidden }

// GoString hides the password, too.
func (p Password) GoString() string { return hidden }

// MarshalText hides the password in JSON and YAML.
func (p Password) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Hash is the SHA-256 of a password in hexadecimal.
type Hash string

// ParsePasswords reads a file of passwords, one in each line, the newest first. While a
// password is changed there are two of them.
func ParsePasswords(text string) ([]Password, error) {
	var list []Password
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			list = append(list, NewPassword(line))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: there is no password", ErrMalformed)
	}
	return list, nil
}

// hashes are those of passwords, in the same order.
func hashes(passwords []Password) []Hash {
	list := make([]Hash, 0, len(passwords))
	for _, p := range passwords {
		list = append(list, p.Hash())
	}
	return list
}
