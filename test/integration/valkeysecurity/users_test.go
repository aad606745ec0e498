package valkeysecurity

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// as opens a connection of a user to one server.
func (s *server) as(t testing.TB, user, password string) valkey.Client {
	t.Helper()
	c, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: []string{s.addr()}, ForceSingleClient: true, DisableCache: true, AlwaysRESP2: true, TLSConfig: s.trust(),
		Dialer: net.Dialer{Timeout: timeout.Command}, ConnWriteTimeout: timeout.Command,
		Username: user, Password: password,
	})
	s.must(t, err)
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) secrets(t testing.TB) access.Secrets {
	t.Helper()
	s, err := access.ParseSecrets(c.held())
	c.must(t, err)
	return s
}

// Every user can do what it must and nothing that it must not, by the word of the
// server; and all that was done so far by the operator's user was allowed.
func TestUsersCanDoWhatTheyMust(t *testing.T) {
	t.Parallel()
	forEachVersion(t, func(t *testing.T, c *cluster) {
		for _, s := range c.servers {
			at := s.target(t)
			probes := access.Probes(c.version, c.secrets(t).Users(c.version))
			askew, err := c.client.Try(t.Context(), at, probes)
			c.must(t, err)
			if len(askew) > 0 || len(probes) < 100 {
				t.Errorf("%d of %d answers are wrong: %v", len(askew), len(probes), askew)
			}
			if denied := s.denials(t); denied != "0 0 0" {
				t.Errorf("%s denied %s", s.ip, denied)
			}
		}
		c.servers[0].probesCanFail(t)
		c.servers[1].onlyTheList(t)
		c.servers[2].nobodyElse(t)
	})
}

// denials is how often somebody was denied a command, a key or a channel.
func (s *server) denials(t testing.TB) string {
	t.Helper()
	text, err := s.as(t, application, "application-1").Do(t.Context(), valkey.Builder{}.Info().Section("stats").Build()).ToString()
	s.must(t, err)
	info := wire.ParseInfo(text)
	return fmt.Sprint(info["acl_access_denied_cmd"], " ", info["acl_access_denied_key"], " ", info["acl_access_denied_channel"])
}

// probesCanFail takes a right away, and sees that it is missed, and given back.
func (s *server) probesCanFail(t *testing.T) {
	at, users := s.target(t), s.secrets(t).Users(s.version)
	probes := access.Probes(s.version, users)
	less := users[1]
	less.Rules = slices.Concat(less.Rules, []string{"-psync", "+get"})
	s.must(t, s.client.Grant(t.Context(), at, less))
	askew, err := s.client.Try(t.Context(), at, probes)
	s.must(t, err)
	if got := fmt.Sprint(askew); got != "[statecraft-replication: PSYNC ? -1 statecraft-replication: GET key]" {
		t.Errorf("missed: %s", got)
	}
	s.must(t, s.client.Grant(t.Context(), at, users[1]))
	if askew, err := s.client.Try(t.Context(), at, probes); err != nil || len(askew) > 0 {
		t.Errorf("given back: %v, %v", askew, err)
	}
}

// onlyTheList asks for every command that the server knows: the operator's user has those
// of its list, and those that need no right.
func (s *server) onlyTheList(t *testing.T) {
	t.Helper()
	all := s.commands(t)
	if len(all) < 300 {
		t.Fatalf("the server has only %d commands", len(all))
	}
	probes := make([]access.Probe, 0, len(all))
	for name, words := range all {
		allowed := slices.Contains(access.OperatorCommands(s.version), name) || slices.Contains([]string{"auth", "hello", "quit", "reset"}, name)
		probes = append(probes, access.Probe{User: access.Operator, Words: words, Allowed: allowed})
	}
	askew, err := s.client.Try(t.Context(), s.target(t), probes)
	s.must(t, err)
	if len(askew) > 0 {
		t.Errorf("of %d commands these are not as they should be: %v", len(all), askew)
	}
}

// commands are all that the server knows, with as many words as each needs.
func (s *server) commands(t testing.TB) map[string][]string {
	t.Helper()
	reply, err := s.as(t, application, "application-1").Do(t.Context(), valkey.Builder{}.Command().Build()).ToAny()
	s.must(t, err)
	all := map[string][]string{}
	var add func(list []any)
	add = func(list []any) {
		for _, entry := range list {
			fields := entry.([]any)
			name, arity := fields[0].(string), fields[1].(int64)
			words := strings.Split(name, "|")
			for int64(len(words)) < max(arity, -arity) {
				words = append(words, "1")
			}
			subcommands := fields[9].([]any)
			add(subcommands)
			if len(subcommands) == 0 {
				all[name] = words
			}
		}
	}
	add(reply.([]any))
	return all
}

// nobodyElse tries to get in without a right to.
func (s *server) nobodyElse(t *testing.T) {
	t.Helper()
	for name, option := range map[string]valkey.ClientOption{
		"without a name":          {TLSConfig: s.trust()},
		"as the default user":     {TLSConfig: s.trust(), Username: access.Default, Password: "application-1"},
		"with a wrong password":   {TLSConfig: s.trust(), Username: application, Password: "operator-1"},
		"in the clear":            {Username: application, Password: "application-1"},
		"without the authorities": {TLSConfig: &tls.Config{ServerName: serverName, MinVersion: tls.VersionTLS12}, Username: application, Password: "application-1"},
	} {
		option.InitAddress, option.ForceSingleClient, option.DisableCache, option.DisableRetry = []string{s.addr()}, true, true, true
		c, err := valkey.NewClient(option)
		if err == nil {
			err = c.Do(t.Context(), c.B().Get().Key("x").Build()).Error()
			c.Close()
		}
		if err == nil || valkey.IsValkeyNil(err) {
			t.Errorf("%s: got in", name)
		}
	}
	denied := wire.NewClientWith(wire.Access{TLS: s.trust(), Login: func() (string, []access.Password, error) {
		return access.Operator, []access.Password{access.NewPassword("x"), access.NewPassword("y")}, nil
	}}).Patient(timeout.Command)
	defer denied.Close()
	if _, err := denied.Ask(t.Context(), s.addr()); !errors.Is(err, wire.ErrDenied) || errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("with two wrong passwords: %v", err)
	}
	file := filepath.Join(s.dir, "users.acl")
	info, err := os.Stat(file)
	s.must(t, err)
	text, err := os.ReadFile(file)
	s.must(t, err)
	if info.Mode().Perm() != 0o600 || strings.Contains(string(text), "-1") {
		t.Errorf("%s is %s:\n%s", file, info.Mode(), text)
	}
}
