package spec

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// restarts are the directives of spec.config that a server takes only when it starts, in some
// version at least. A test asks servers of every version.
var restarts = []string{
	"always-show-logo", "aof-rewrite-cpulist", "bgsave-cpulist", "bio-cpulist", "disable-thp", "hash-seed", "io-threads", "io-threads-do-reads",
	"mptcp", "rdbchecksum", "server-cpulist", "set-proc-title", "socket-mark-id", "syslog-facility", "syslog-ident", "tcp-backlog", "unixsocketgroup",
}

// NeedsRestart says that a setting cannot be changed while servers run.
func NeedsRestart(directive string) bool {
	return slices.Contains(restarts, directive) || strings.HasPrefix(directive, "rdma-")
}

// Live are the settings of spec.config that are changed while servers run, as they are told.
func Live(c *valkeyv1.ValkeyCluster) map[string]string {
	live := map[string]string{}
	for directive, value := range c.Spec.Config {
		if !NeedsRestart(directive) {
			live[directive] = unquoted(string(value))
		}
	}
	return live
}

// unquoted is a value as it is told, where the file needs quotes around it.
func unquoted(value string) string {
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}

// liveHeader is the line of the configuration after which settings are that servers have
// shown to have, or started with.
const liveHeader = "# From spec.config; changed while servers run.\n"

// KeepLive leaves those settings in the configuration as they are: servers have not taken
// those of the spec, or not yet, and one that starts with what it refuses does not start. Of
// nil there are none.
func KeepLive(wanted, is *corev1.ConfigMap) {
	fixed, _, _ := strings.Cut(wanted.Data[LiveFile], liveHeader)
	text := fixed + liveHeader
	if is != nil {
		_, live, _ := strings.Cut(is.Data[LiveFile], liveHeader)
		text += live
	}
	wanted.Data = maps.Clone(wanted.Data)
	wanted.Data[LiveFile] = text
	delete(wanted.Annotations, AppliedAnnotation)
	stamp(wanted)
}
