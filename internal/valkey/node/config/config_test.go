package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

const shared = "# A comment.\nport 6379\ndir /data\nsave \"\"\nappendonly no\ncluster-node-timeout 5000\n"

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Settings
	}{
		"what servers assume": {"", Settings{".", "nodes.conf", "dump.rdb", "", true, "6379", 15 * time.Second}},
		"what we write":       {shared, Settings{"/data", "/data/nodes.conf", "/data/dump.rdb", "", false, "6379", 5 * time.Second}},
		"the last one counts": {"port 1\nPORT 2\ndir /a\ndir \"/b\"", Settings{"/b", "/b/nodes.conf", "/b/dump.rdb", "", true, "2", 15 * time.Second}},
		"a log of changes": {"appendonly \"yes\"\nappenddirname 'log'\ndir /d\ncluster-config-file n\ndbfilename r",
			Settings{"/d", "/d/n", "/d/r", "/d/log", true, "6379", 15 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := Parse("cluster-node-timeout soon"); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v", err)
	}
}

func TestVersion(t *testing.T) {
	for printed, want := range map[string]string{
		"Valkey server v=8.0.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=39f7c371e0a96e3d": "8.0.1",
		"Server v=9.1.2\n": "9.1.2",
		"v=":               "",
		"valkey 8.0":       "",
		"v=unstable":       "",
	} {
		if got, err := Version(printed); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", printed, got, err)
		}
	}
}

// added is what Render adds, without the reasons.
func added(t *testing.T, s Server) []string {
	t.Helper()
	text, err := Render(shared, s)
	if err != nil {
		t.Fatal(err)
	}
	rest, is := strings.CutPrefix(text, shared)
	if !is {
		t.Fatalf("what is shared was changed:\n%s", text)
	}
	var lines []string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestRender(t *testing.T) {
	const announce, pause, net = "cluster-announce-ip 10.0.0.7", "cluster-manual-failover-timeout 2000", "shutdown-on-sigterm failover"
	for name, c := range map[string]struct {
		server Server
		want   []string
	}{
		"8.0":   {Server{Version: "8.0.1", IP: "10.0.0.7"}, []string{announce}},
		"8.1":   {Server{Version: "8.1.1", IP: "10.0.0.7"}, []string{pause, announce}},
		"9.1":   {Server{Version: "9.1.2", IP: "10.0.0.7"}, []string{pause, net, announce}},
		"later": {Server{Version: "10.0.0"}, []string{pause, net}},
		"with users": {Server{Version: "8.0.1", Users: "/data/users.acl", Primary: Login{"replica", access.NewPassword("a \"b\\\n")}}, []string{
			"aclfile /data/users.acl", `primaryuser "replica"`, `primaryauth "a \"b\\\x0a"`,
		}},
		"with TLS": {Server{Version: "8.0.1", TLS: "/tls"}, []string{
			"port 0", "tls-port 6379", "tls-cert-file /tls/tls.crt", "tls-key-file /tls/tls.key", "tls-ca-cert-file /tls/ca.crt",
			"tls-auth-clients no", "tls-replication yes", "tls-cluster yes",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, added(t, c.server)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
