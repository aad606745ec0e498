package wire

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

// What is told about access names the end state; passwords are told as hashes, but for the
// one that the server itself must show.
func TestAccessCommands(t *testing.T) {
	shop := access.User{Name: "shop", Rules: []string{"~*", "+get"}, Passwords: []access.Hash{"aa", "bb"}}
	for name, c := range map[string]struct {
		step access.Step
		want []string
	}{
		"give rights": {access.Grant{User: shop}, []string{"ACL SETUSER shop on resetkeys resetchannels clearselectors -@all ~* +get #aa #bb"}},
		"turn off": {access.Grant{User: access.User{Name: access.Default, Off: true}},
			[]string{"ACL SETUSER default off resetkeys resetchannels clearselectors -@all"}},
		"add passwords":                     {access.AddPasswords{User: "shop", Passwords: []access.Hash{"aa", "bb"}}, []string{"ACL SETUSER shop #aa #bb"}},
		"drop passwords":                    {access.DropPasswords{User: "shop", Passwords: []access.Hash{"aa", "xx"}}, []string{"ACL SETUSER shop !aa"}},
		"drop passwords that are not known": {access.DropPasswords{User: "shop", Passwords: []access.Hash{"xx"}}, nil},
		"remove users":                      {access.RemoveUsers{Users: []string{"a", "b"}}, []string{"ACL DELUSER a b"}},
		"remove nobody":                     {access.RemoveUsers{}, nil},
		"log on to others":                  {access.SetPrimaryLogin{User: "u", Password: access.NewPassword("p")}, []string{"CONFIG SET primaryuser u primaryauth p"}},
		"break a link":                      {access.Reconnect{Connection: "10.0.0.1:77"}, []string{"CLIENT KILL TYPE PRIMARY LADDR 10.0.0.1:77"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, accounts())
			for _, command := range c.want {
				s.answers[command] = "+OK\r\n"
			}
			client := patient()
			defer client.Close()
			if err := Carry(t.Context(), client, Target{Addr: s.Addr().String(), ID: ida}, c.step); err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			told := slices.DeleteFunc(s.heard, func(h string) bool {
				_, question := accounts()[h]
				return question || strings.HasPrefix(h, "CLIENT SET") || strings.HasPrefix(h, "HELLO")
			})
			if !slices.Equal(c.want, told) {
				t.Errorf("told %q", told)
			}
			s.mu.Unlock()
			if c.want == nil && name == "remove nobody" {
				return
			}
			if err := Carry(t.Context(), client, Target{Addr: s.Addr().String(), ID: idb}, c.step); !errors.Is(err, ErrOtherServer) {
				t.Errorf("another server is told: %v", err)
			}
		})
	}
}

const asked = "CONFIG GET primaryuser primaryauth tls-cert-file tls-key-file tls-ca-cert-file"

// accounts is what a replica with one user says.
func accounts() map[string]string {
	a := three(aReplica)
	a["ACL USERS"] = "*2\r\n" + bulk("default") + bulk("shop")
	a[asked] = "*10\r\n" + bulk("primaryuser") + bulk("u") + bulk("primaryauth") + bulk("foobared") +
		bulk("tls-cert-file") + bulk("/tls/tls.crt") + bulk("tls-key-file") + bulk("/tls/tls.key") + bulk("tls-ca-cert-file") + bulk("/tls/ca.crt")
	a["ROLE"] = "*5\r\n" + bulk("slave") + bulk("10.0.0.2") + ":6379\r\n" + bulk("connected") + ":14\r\n"
	a["CLIENT LIST TYPE PRIMARY"] = bulk("id=5 addr=10.0.0.2:6379 laddr=10.0.0.1:77 fd=9 name= age=3 user=(superuser)\n")
	a["ACL GETUSER default"] = "*4\r\n" + bulk("flags") + "*2\r\n" + bulk("off") + bulk("nopass") + bulk("passwords") + "*0\r\n"
	a["ACL GETUSER shop"] = "*6\r\n" + bulk("flags") + "*1\r\n" + bulk("on") + bulk("passwords") + "*1\r\n" + bulk("aa") + bulk("keys") + bulk("~*")
	return a
}

func TestAskAccess(t *testing.T) {
	s := newStub(t, accounts())
	client := patient()
	defer client.Close()
	at := Target{Addr: s.Addr().String(), ID: ida}
	got, err := client.AskAccess(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	want := &access.Server{
		Accounts:    map[string]access.Account{access.Default: {Open: true}, "shop": {On: true, Passwords: []access.Hash{"aa"}}},
		PrimaryUser: "u", PrimaryHash: access.NewPassword("foobared").Hash(),
		Replica: true, Linked: true, Connection: "10.0.0.1:77",
		Material: access.FilesOf(""),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, broken := range []string{"ACL USERS", asked, "ROLE", "CLIENT LIST TYPE PRIMARY", "ACL GETUSER shop"} {
		s := newStub(t, accounts())
		s.answers[broken] = ":7\r\n"
		if _, err := client.AskAccess(t.Context(), Target{Addr: s.Addr().String(), ID: ida}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", broken, err)
		}
	}
}

func TestReloadCertificates(t *testing.T) {
	const told = "CONFIG SET tls-cert-file /tls/tls-1.crt tls-key-file /tls/tls-1.key tls-ca-cert-file /tls/ca-1.crt"
	s := newStub(t, three(anOwner))
	s.answers[told] = "+OK\r\n"
	client := patient()
	defer client.Close()
	at := Target{Addr: s.Addr().String(), ID: ida}
	if err := client.ReloadCertificates(t.Context(), at, "/tls", access.FilesOf("1")); err != nil {
		t.Error(err)
	}
	s.answers[told] = "-ERR CONFIG SET failed - Unable to update TLS configuration.\r\n"
	if err := client.ReloadCertificates(t.Context(), at, "/tls", access.FilesOf("1")); !errors.Is(err, ErrRefused) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := client.Certificate(t.Context(), at); !errors.Is(err, ErrRefused) {
		t.Errorf("without TLS: %v", err)
	}
}

func TestTry(t *testing.T) {
	answers := three(anOwner)
	answers["ACL DRYRUN u GET k"] = "+OK\r\n"
	answers["ACL DRYRUN u SET k v"] = bulk("User u has no permissions to run the 'set' command")
	s := newStub(t, answers)
	client := patient()
	defer client.Close()
	probe := func(command string, allowed bool) access.Probe {
		return access.Probe{User: "u", Words: strings.Fields(command), Allowed: allowed}
	}
	askew, err := client.Try(t.Context(), Target{Addr: s.Addr().String(), ID: ida},
		[]access.Probe{probe("GET k", true), probe("SET k v", false), probe("GET k", false), probe("SET k v", true)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]access.Probe{probe("GET k", false), probe("SET k v", true)}, askew); diff != "" {
		t.Error(diff)
	}
}

// While a password is changed, servers differ in which they know.
func TestEveryPasswordIsTried(t *testing.T) {
	for name, c := range map[string]struct {
		known     string
		passwords []string
		heard     []string
		err       error
	}{
		"the newest is taken":            {"new", []string{"new", "old"}, []string{"AUTH u new"}, nil},
		"the newest is not known":        {"old", []string{"new", "old"}, []string{"AUTH u new", "AUTH u old"}, nil},
		"none is known":                  {"else", []string{"new", "old"}, []string{"AUTH u new", "AUTH u old"}, ErrDenied},
		"there is none":                  {"else", nil, nil, ErrDenied},
		"the server says something else": {"", []string{"new"}, []string{"AUTH u new"}, ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			answers := alone(ida)
			for _, p := range c.passwords {
				answers["AUTH u "+p] = "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
			}
			answers["AUTH u "+c.known] = "+OK\r\n"
			if c.known == "" {
				answers["AUTH u new"] = ":7\r\n"
			}
			s := newStub(t, answers)
			client := NewClientWith(Access{Login: func() (string, []access.Password, error) {
				var list []access.Password
				for _, p := range c.passwords {
					list = append(list, access.NewPassword(p))
				}
				return "u", list, nil
			}})
			defer client.Close()
			_, err := client.Ask(t.Context(), s.Addr().String())
			if !errors.Is(err, c.err) || c.err != nil && errors.Is(err, ErrUnreachable) {
				t.Errorf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "new") {
				t.Errorf("a password is in the error: %v", err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := s.heard[:min(len(s.heard), len(c.heard))]; !slices.Equal(got, c.heard) {
				t.Errorf("heard %q", s.heard)
			}
		})
	}
}
