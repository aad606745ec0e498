package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

func TestAServerRunsAsItsUser(t *testing.T) {
	user, err := parts.Unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	if user == nil { // these tests are not root's: it is their own user
		user = &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}
	}
	p, err := Start(Command{Name: "id", Path: "/usr/bin/id", Args: []string{"-u"}, User: user, Dir: "/"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	said, err := os.ReadFile(filepath.Clean(p.Log))
	if err != nil || strings.TrimSpace(string(said)) != strconv.Itoa(int(user.Uid)) {
		t.Errorf("it runs as %s, %v", said, err)
	}
}
