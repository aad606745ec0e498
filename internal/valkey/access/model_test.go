package access

import (
	"slices"
	"strconv"
)

// model is servers that do what they are told, and log on to each other.
type model struct {
	nodes   []*modeled
	secrets Secrets // what the operator knows
	memory  *Reconnection
}

type modeled struct {
	Node
	files   Secrets
	primary int // whom it follows; its own number if nobody
	session int // how often it connected to its primary
}

// start is what a server is after it started with files.
func (m *modeled) start(files Secrets) {
	accounts := map[string]Account{Default: {}}
	for _, u := range files.Users(m.Version) {
		accounts[u.Name] = Account{On: true, Passwords: slices.Clone(u.Passwords)}
	}
	m.files = files
	m.Server = &Server{Accounts: accounts, PrimaryUser: Replication, PrimaryHash: files.Replication[0].Hash(), Files: files.Newest()}
}

// deliver lets the newest files reach all pods.
func (m *model) deliver() {
	for _, n := range m.nodes {
		if n.files = m.secrets; n.Server != nil {
			n.Server.Files = n.files.Newest()
		}
	}
}

// newModel is two primaries and a replica of each.
func newModel(files Secrets) *model {
	m := &model{secrets: files}
	for i := range 4 {
		n := &modeled{Node: Node{Name: strconv.Itoa(i), Version: "9.1.2"}, primary: i % 2}
		n.start(files)
		m.nodes = append(m.nodes, n)
	}
	m.settle()
	return m
}

// settle lets replicas connect that are not, if their primary takes what they show.
func (m *model) settle() {
	for i, n := range m.nodes {
		if n.Server == nil || n.primary == i {
			continue
		}
		p := m.nodes[n.primary]
		n.Server.Replica = true
		if n.Server.Linked = n.Server.Linked && p.Server != nil; n.Server.Linked || p.Server == nil {
			continue
		}
		n.Server.Connection = ""
		if p.Server.Accounts[n.Server.PrimaryUser].On && p.Server.Knows(n.Server.PrimaryUser, n.Server.PrimaryHash) {
			n.session++
			n.Server.Linked, n.Server.Connection = true, strconv.Itoa(n.session)
		}
	}
}

func (m *model) world() World {
	w := World{Secrets: m.secrets, Reconnected: m.memory}
	for _, n := range m.nodes {
		w.Nodes = append(w.Nodes, n.Node)
	}
	return w
}

// do is what a server does when it is told.
func (m *model) do(step Step) {
	n := m.nodes[slices.IndexFunc(m.nodes, func(n *modeled) bool { return n.Name == step.At() })]
	switch s := step.(type) {
	case Grant:
		is := n.Server.Accounts[s.User.Name]
		n.Askew = nil
		n.Server.Accounts[s.User.Name] = Account{On: !s.User.Off, Passwords: append(is.Passwords, without(s.User.Passwords, is.Passwords)...)}
	case AddPasswords:
		is := n.Server.Accounts[s.User]
		is.Passwords = append(slices.Clone(is.Passwords), without(s.Passwords, is.Passwords)...)
		n.Server.Accounts[s.User] = is
	case SetPrimaryLogin:
		n.Server.PrimaryUser, n.Server.PrimaryHash = s.User, s.Password.Hash()
	case Reconnect:
		m.memory = s.Remember()
		if n.Server.Connection == s.Connection {
			n.Server.Linked = false
		}
	case DropPasswords:
		is := n.Server.Accounts[s.User]
		is.Passwords = without(is.Passwords, s.Passwords)
		n.Server.Accounts[s.User] = is
	case LoadCertificates:
		n.Server.Material = FilesOf(s.Material)
	case RemoveUsers:
		for _, u := range s.Users {
			delete(n.Server.Accounts, u)
		}
	}
}

// locked finds a server that could not connect to another, or that the operator or the
// application could not log on to.
func (m *model) locked(application Hash) (string, bool) {
	for _, p := range m.nodes {
		for _, n := range m.nodes {
			if !p.Server.Knows(Replication, n.Server.PrimaryHash) {
				return n.Name + " could not connect to " + p.Name, true
			}
		}
		if !slices.ContainsFunc(p.files.Logins(), func(o Password) bool { return p.Server.Knows(Operator, o.Hash()) }) {
			return "the program beside " + p.Name + " could not log on to it", true
		}
		if !slices.ContainsFunc(m.secrets.Operator, func(o Password) bool { return p.Server.Knows(Operator, o.Hash()) }) {
			return "the operator could not log on to " + p.Name, true
		}
		if !p.Server.Knows("shop", application) {
			return "the application could not log on to " + p.Name, true
		}
	}
	return "", false
}
