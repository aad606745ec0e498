package access

import (
	"strings"
)

// The users that are not the application's.
const (
	Operator    = "statecraft-operator"
	Replication = "statecraft-replication"
	// Default is who logs on without a name. It is off.
	Default = "default"
	// Files is nobody: it is off, and its password is the hash that the program beside a
	// server leaves there to tell which files it has. Nowhere else could it.
	Files = "statecraft-files"
)

// User is one who may log on.
type User struct {
	Name string
	Off  bool // nobody can log on as this one
	// Rules are what the user may do, in the words of ACL SETUSER.
	Rules []string
	// Passwords are all that are valid, the newest first.
	Passwords []Hash
}

// Grant is the user's rights as ACL SETUSER takes them: whatever it could do before, it
// can do this and nothing else. Its passwords are left as they are.
func (u User) Grant() []string {
	state := "on"
	if u.Off {
		state = "off"
	}
	return append([]string{state, "resetkeys", "resetchannels", "clearselectors", "-@all"}, u.Rules...)
}

// Line is the user in a file of users.
func (u User) Line() string {
	words := []string{"user", u.Name, "on"}
	for _, p := range u.Passwords {
		words = append(words, "#"+string(p))
	}
	return strings.Join(append(words, u.Rules...), " ")
}

// File is a file of users: who is not in it cannot log on.
func File(users []User, seen Hash) string {
	var b strings.Builder
	b.WriteString("user " + Default + " off\n")
	for _, u := range users {
		b.WriteString(u.Line() + "\n")
	}
	b.WriteString("user " + Files + " off #" + string(seen) + "\n")
	return b.String()
}
