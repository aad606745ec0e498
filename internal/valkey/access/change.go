package access

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
)

// strength is of how many random bytes a password is made.
const strength = 32

// Generate makes a password. It is one word of letters, digits, - and _.
func Generate(random io.Reader) (Password, error) {
	b := make([]byte, strength)
	if _, err := io.ReadFull(random, b); err != nil {
		return Password{}, fmt.Errorf("make password: %w", err)
	}
	return NewPassword(base64.RawURLEncoding.EncodeToString(b)), nil
}

// Logins are what to try when the operator's user logs on, one after the other.
func (s Secrets) Logins() []Password { return slices.Concat(s.Operator, s.Retired) }

// Begin adds new passwords of the operator's two users before those that there are. It is
// kept before any server hears of it: what only servers knew would be lost with a crash.
func (s Secrets) Begin(operator, replication Password) Secrets {
	s.Operator = slices.Concat([]Password{operator}, s.Operator)
	s.Replication = slices.Concat([]Password{replication}, s.Replication)
	return s
}

// Newest tells the newest passwords of the operator's own users from others, and gives none
// of them away. What comes after them in the files does not change it.
func (s Secrets) Newest() Hash {
	if len(s.Operator) == 0 || len(s.Replication) == 0 {
		return ""
	}
	return NewPassword(string(s.Operator[0].Hash() + s.Replication[0].Hash())).Hash()
}

// Changing says that a change was begun, and not ended.
func (s Secrets) Changing() bool { return len(s.Operator) > 1 || len(s.Replication) > 1 }

// End leaves the newest, once Next has nothing left to do. What the operator logged on with
// before is kept for servers that start with older files after all.
func (s Secrets) End() Secrets {
	if len(s.Operator) > 1 {
		s.Retired = slices.Clone(s.Operator[1:])
	}
	s.Operator, s.Replication = slices.Clone(s.Operator[:1]), slices.Clone(s.Replication[:1])
	return s
}

// Own are the files that the operator keeps itself; the application's are its owner's.
func (s Secrets) Own() map[string]string {
	files := map[string]string{OperatorFile: lines(s.Operator), ReplicationFile: lines(s.Replication)}
	if len(s.Retired) > 0 {
		files[RetiredFile] = lines(s.Retired)
	}
	return files
}

func lines(passwords []Password) string {
	var b strings.Builder
	for _, p := range passwords {
		b.WriteString(p.Reveal() + "\n")
	}
	return b.String()
}
