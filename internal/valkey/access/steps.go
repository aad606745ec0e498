package access

import (
	"fmt"
	"strings"
)

// Step is one thing to tell one server. Telling it again is harmless.
//
//sumtype:decl
type Step interface {
	// At is the name of the server.
	At() string
	String() string
	step()
}

// Grant gives a user its rights, and makes it if there is none.
type Grant struct {
	Node string
	User User
}

// AddPasswords makes passwords valid, besides those that are.
type AddPasswords struct {
	Node, User string
	Passwords  []Hash
}

// SetPrimaryLogin sets what a server shows to other servers.
type SetPrimaryLogin struct {
	Node, User string
	Password   Password
}

// Reconnect breaks the link of a replica to its primary, to see it come back.
type Reconnect struct {
	Node, Connection string
	With             Hash
}

// LoadCertificates lets a server read its certificates from the files of a name. It refuses
// as long as the files are not there.
type LoadCertificates struct{ Node, Dir, Material string }

// DropPasswords makes passwords invalid.
//
// If it were wrong, servers or clients that have no other password could not connect any
// more, and would not be missed before they try.
type DropPasswords struct {
	Node, User string
	Passwords  []Hash
}

// RemoveUsers removes users that nobody wants, with their connections.
type RemoveUsers struct {
	Node  string
	Users []string
}

// Remember is what the next decision must be told of.
func (s Reconnect) Remember() *Reconnection {
	return &Reconnection{Node: s.Node, Connection: s.Connection, With: s.With}
}

// At implements Step.
func (s Grant) At() string { return s.Node }

// At implements Step.
func (s AddPasswords) At() string { return s.Node }

// At implements Step.
func (s SetPrimaryLogin) At() string { return s.Node }

// At implements Step.
func (s Reconnect) At() string { return s.Node }

// At implements Step.
func (s LoadCertificates) At() string { return s.Node }

// At implements Step.
func (s DropPasswords) At() string { return s.Node }

// At implements Step.
func (s RemoveUsers) At() string { return s.Node }

func (s Grant) String() string {
	if s.User.Off {
		return fmt.Sprintf("turn user %s off at %s", s.User.Name, s.Node)
	}
	return fmt.Sprintf("give user %s its rights at %s", s.User.Name, s.Node)
}

func (s AddPasswords) String() string {
	return fmt.Sprintf("add %s to user %s at %s", count(s.Passwords), s.User, s.Node)
}

func (s SetPrimaryLogin) String() string {
	return fmt.Sprintf("let %s log on to others as %s with its newest password", s.Node, s.User)
}

func (s Reconnect) String() string {
	return fmt.Sprintf("break link %s of %s to its primary", s.Connection, s.Node)
}

func (s LoadCertificates) String() string {
	return fmt.Sprintf("load certificates %s at %s", s.Material, s.Node)
}

func (s DropPasswords) String() string {
	return fmt.Sprintf("drop %s of user %s at %s", count(s.Passwords), s.User, s.Node)
}

func (s RemoveUsers) String() string {
	return fmt.Sprintf("remove users %s at %s", strings.Join(s.Users, ", "), s.Node)
}

func count(passwords []Hash) string {
	if len(passwords) == 1 {
		return "1 password"
	}
	return fmt.Sprintf("%d passwords", len(passwords))
}

func (Grant) step()            {}
func (AddPasswords) step()     {}
func (SetPrimaryLogin) step()  {}
func (Reconnect) step()        {}
func (LoadCertificates) step() {}
func (DropPasswords) step()    {}
func (RemoveUsers) step()      {}
