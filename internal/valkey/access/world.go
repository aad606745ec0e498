package access

import "slices"

// Server is what one server says of who may log on to it, and of how it logs on itself.
type Server struct {
	// Accounts are its users by name. Of the default user only that it is off matters.
	Accounts map[string]Account
	// Primary is what it shows to a primary that it replicates.
	PrimaryUser string
	PrimaryHash Hash // "" is no password
	// Replica says that it follows a primary; Linked that its link to it is up.
	Replica, Linked bool
	// Connection names that link: another one has another name. "" is none.
	Connection string
	// Material is where it read its certificates last.
	Material MaterialFiles
	// Files is Newest of the files that the program beside it saw last; "" is not known.
	Files Hash
}

// Account is one user at one server.
type Account struct {
	On bool
	// Open says that any password will do.
	Open      bool
	Passwords []Hash
}

// Knows says that a user can log on with a password.
func (s *Server) Knows(user string, password Hash) bool {
	return slices.Contains(s.Accounts[user].Passwords, password)
}

// Node is one server and what it said.
type Node struct {
	Name string
	// Version decides what its users may be granted.
	Version string
	Server  *Server // nil: it said nothing
	// Dir is where it finds its certificates.
	Dir string
	// Askew are users whose rights are not as they should be, by the answers to Probes.
	Askew []string
}

// linked says that it is a replica with a link to its primary.
func (n Node) linked() bool {
	return n.Server.Replica && n.Server.Linked && n.Server.Connection != ""
}

// Reconnection is a link that was made to break, so that it is seen whether it comes
// back: servers ask for a password only when they are connected to.
type Reconnection struct {
	Node       string // the replica
	Connection string // the link that was broken
	With       Hash   // the password that it was to come back with, or the certificates
}

// World is all that a change of access is decided from.
type World struct {
	// Secrets are what the servers' files hold, or soon will. Of the operator's two users
	// only the newest password stays valid; which of the application's do is for its owner
	// to say, so all of them do.
	Secrets Secrets
	// Staged are the certificates that the servers' files hold, or soon will; Given those
	// that they are to hold in the end. Proven says that links are known to work with them.
	Staged, Given Material
	Proven        bool
	// Ended says that what is staged is not valid any more.
	Ended bool
	Nodes []Node
	// Reconnected is the link that was broken last, by whoever remembers it. Where that was
	// forgotten, one more is broken.
	Reconnected *Reconnection
}

// wanted are the users of a server as they should be in the end.
func (w World) wanted(version string) []User {
	users := w.Secrets.Users(version)
	for i, u := range users {
		if u.Name == Operator || u.Name == Replication {
			users[i].Passwords = u.Passwords[:1]
		}
	}
	return users
}

// node finds a server by name.
func (w World) node(name string) (Node, bool) {
	i := slices.IndexFunc(w.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return Node{}, false
	}
	return w.Nodes[i], true
}
