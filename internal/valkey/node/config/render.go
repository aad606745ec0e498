package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Server is the one that is about to start.
type Server struct {
	Version string
	IP      string // what others shall call it
	Mark    string // of the pod that it runs in
	TLS     string // directory of tls.crt, tls.key and ca.crt; "" is without TLS
	Users   string // file of users; "" is without passwords
	Primary Login  // what it presents to the primary that it replicates
}

// Login is a user and its password.
type Login struct {
	User     string
	Password access.Password
}

type setting struct{ directive, value, why string }

// Render is the shared configuration with the settings of this server after it. Of
// a setting that is made twice, servers take the last.
func Render(shared string, s Server) (string, error) {
	settings, err := Parse(shared)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(shared, "\n"))
	fmt.Fprintf(&b, "\n\n# Added for this server, which is Valkey %s.\n", s.Version)
	for _, list := range [][]setting{byVersion(s.Version), identity(s), encryption(s.TLS, settings.Port)} {
		for _, l := range list {
			fmt.Fprintf(&b, "\n# %s\n%s %s\n", l.why, l.directive, l.value)
		}
	}
	return b.String(), nil
}

// byVersion is what older servers do not know: they would not start with it.
func byVersion(version string) (list []setting) {
	if !topology.Older(version, "8.1") {
		list = append(list, setting{"cluster-manual-failover-timeout", "2000", "Writes are paused no longer than this for a failover that does not come about."})
	}
	if !topology.Older(version, "9") {
		list = append(list, setting{"shutdown-on-sigterm", "failover", "The net under the hand-over: a primary that is stopped without one."})
	}
	return list
}

func identity(s Server) (list []setting) {
	if s.IP != "" {
		list = append(list, setting{"cluster-announce-ip", s.IP, "Otherwise what others see depends on who was connected to first."})
	}
	if s.Mark != "" {
		list = append(list, setting{"cluster-announce-human-nodename", s.Mark, "Whose server this is: another may have had this address before, or have it next."})
	}
	if s.Users != "" {
		list = append(list,
			setting{"aclfile", s.Users, "Who may log on."},
			setting{"primaryuser", quoted(s.Primary.User), "Who it is to other servers."},
			setting{"primaryauth", quoted(s.Primary.Password.Reveal()), "Who it is to other servers."})
	}
	return list
}

// encryption moves everything to TLS, on the same ports.
func encryption(dir, port string) []setting {
	if dir == "" {
		return nil
	}
	return []setting{
		{"port", "0", "Nothing is served in the clear."},
		{"tls-port", port, "Where clients and replicas connect."},
		{"tls-cert-file", filepath.Join(dir, "tls.crt"), "Who it is."},
		{"tls-key-file", filepath.Join(dir, "tls.key"), "Who it is."},
		{"tls-ca-cert-file", filepath.Join(dir, "ca.crt"), "Whom it believes."},
		{"tls-auth-clients", "no", "Clients show who they are by password; a certificate of their own could only be the wrong one. Servers still show theirs to each other."},
		{"tls-replication", "yes", "Replicas connect to primaries by TLS."},
		{"tls-cluster", "yes", "Servers talk to each other by TLS."},
	}
}

// quoted writes any text so that the server reads back the same.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
