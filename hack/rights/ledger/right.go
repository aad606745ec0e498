// Package ledger compares what accounts may do with what they did: the rights that roles grant, the uses that audit logs
// show, and the reasons for rights that no log shows.
package ledger

import (
	"cmp"
	"fmt"
	"strings"
)

// Role is a Role or a ClusterRole.
type Role struct{ Kind, Name string }

func (r Role) String() string { return r.Kind + "/" + r.Name }

// Right is the smallest thing that a role grants: one verb on one resource, or on one object of it.
type Right struct {
	Role     Role
	Verb     string
	Group    string
	Resource string // with its subresource, if it is one
	Name     string // "" is all objects
}

// String is what is done to what: "patch valkeyclusters.valkey.example/status", "get secrets(keys)".
func (r Right) String() string { return r.Verb + " " + r.Target() }

// Target is what the right is for.
func (r Right) Target() string {
	resource, subresource, _ := strings.Cut(r.Resource, "/")
	if r.Group != "" {
		resource += "." + r.Group
	}
	if subresource != "" {
		resource += "/" + subresource
	}
	if r.Name != "" {
		resource += "(" + r.Name + ")"
	}
	return resource
}

// key tells rights apart.
func (r Right) key() string { return r.Role.String() + " " + r.String() }

// allows says that the right is enough for what was done, by whichever role.
func (r Right) allows(did Right) bool {
	return either(r.Verb, did.Verb) && either(r.Group, did.Group) && either(r.Resource, did.Resource) &&
		(r.Name == "" || r.Name == did.Name)
}

func either(granted, asked string) bool { return granted == asked || granted == "*" }

// inOrder puts rights of one role and resource beside each other.
func inOrder(a, b Right) int {
	return cmp.Or(cmp.Compare(a.Role.String(), b.Role.String()), cmp.Compare(a.Target(), b.Target()), cmp.Compare(a.Verb, b.Verb))
}

// quoted takes the text in quotation marks that follows a word.
func quoted(text, after string) (string, error) {
	_, rest, found := strings.Cut(text, after+` "`)
	name, _, closed := strings.Cut(rest, `"`)
	if !found || !closed {
		return "", fmt.Errorf("no name after %q in %q", after, text)
	}
	return name, nil
}
