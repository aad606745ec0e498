package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/node/config"
)

// usersDir writes a directory of users.
func usersDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestUsersOfAServer(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		users string // by name, in the order of the file
		said  string
		err   error
	}{
		"all of them": {files: map[string]string{access.OperatorFile: "o", access.ReplicationFile: "new\nold", access.ApplicationUserFile: "shop", access.ApplicationPasswordFile: "a"},
			users: "default statecraft-operator statecraft-replication shop statecraft-files"},
		"no application": {files: map[string]string{access.OperatorFile: "o", access.ReplicationFile: "new"},
			users: "default statecraft-operator statecraft-replication statecraft-files"},
		"an application that cannot be": {files: map[string]string{access.OperatorFile: "o", access.ReplicationFile: "new", access.ApplicationUserFile: "default", access.ApplicationPasswordFile: "a"},
			users: "default statecraft-operator statecraft-replication statecraft-files", said: "without a user for the application"},
		"nothing": {err: access.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			r := &Run{Access: Access{UsersDir: usersDir(t, c.files)}, Say: func(words string) { said.WriteString(words) }}
			server, dir := config.Server{Version: "8.1.1"}, t.TempDir()
			if err := r.users(&server, dir); !errors.Is(err, c.err) {
				t.Fatalf("error %v", err)
			}
			if c.err != nil {
				return
			}
			text, err := os.ReadFile(server.Users)
			if err != nil {
				t.Fatal(err)
			}
			var users []string
			for line := range strings.Lines(string(text)) {
				users = append(users, strings.Fields(line)[1])
			}
			if got := strings.Join(users, " "); got != c.users || server.Primary.Password.Reveal() != "new" || server.Primary.User != access.Replication {
				t.Errorf("users %s, to its primary %s", got, server.Primary.User)
			}
			if (c.said == "") != (said.Len() == 0) || !strings.Contains(said.String(), c.said) {
				t.Errorf("said %q", said.String())
			}
		})
	}
}

// The program logs on whatever may be wrong with the application's user.
func TestLogin(t *testing.T) {
	dir := usersDir(t, map[string]string{access.OperatorFile: "new\nold\n", access.ReplicationFile: "r", access.RetiredFile: "older", access.ApplicationUserFile: "not one"})
	w, err := Access{UsersDir: dir}.wire()
	if err != nil {
		t.Fatal(err)
	}
	user, passwords, err := w.Login()
	var got []string
	for _, p := range passwords {
		got = append(got, p.Reveal())
	}
	if strings.Join(got, " ") != "new old older" || user != access.Operator || err != nil {
		t.Errorf("%s with %v, %v", user, got, err)
	}
	if w, err := (Access{}).wire(); err != nil || w.Login != nil {
		t.Errorf("without passwords: %v", err)
	}
}
