package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// ConfigFile is the key of the ConfigMap that the servers read.
const ConfigFile = "valkey.conf"

// setting is one line that the operator owns, and why it does.
type setting struct{ directive, value, why string }

// ConfigMap holds the configuration of all servers. Every line is understood by
// Valkey 8.0 and everything after it.
func ConfigMap(c *valkeyv1.ValkeyCluster) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: owned(c, EndpointName(c), Labels(c)),
		Data:       map[string]string{ConfigFile: config(c)},
	}
}

func config(c *valkeyv1.ValkeyCluster) string {
	var b strings.Builder
	b.WriteString("# Made by Statecraft from the spec of the ValkeyCluster; edit that instead.\n")
	for _, s := range settings(c) {
		fmt.Fprintf(&b, "\n# %s\n%s %s\n", s.why, s.directive, s.value)
	}
	for _, part := range []struct {
		header string
		live   bool
	}{{"\n# From spec.config.\n", false}, {liveHeader, true}} {
		header := part.header
		for _, directive := range slices.Sorted(maps.Keys(c.Spec.Config)) {
			if NeedsRestart(directive) != part.live {
				fmt.Fprintf(&b, "%s%s %s\n", header, directive, c.Spec.Config[directive])
				header = ""
			}
		}
	}
	return b.String()
}

func settings(c *valkeyv1.ValkeyCluster) []setting {
	list := []setting{
		{"port", fmt.Sprint(valkeyv1.ClientPort), "Where clients and replicas connect."},
		{"cluster-port", fmt.Sprint(valkeyv1.BusPort), "Where the servers of a cluster talk to each other."},
		{"bind", "* -::*", "All addresses of the pod, and IPv6 where there is any."},
		{"protected-mode", "no", "Other pods are not this host."},
		{"daemonize", "no", "The container is the process."},
		{"dir", dataPath, "Everything that outlives the process of a server."},
		{"cluster-enabled", "yes", "One server of many."},
		{"cluster-config-file", "nodes.conf", "What the server knows of the others."},
		{"cluster-node-timeout", fmt.Sprint(nodeTimeout(c) * 1000), "spec.nodeTimeoutSeconds, in milliseconds."},
		{"cluster-allow-replica-migration", "no", "A primary without slots would turn into a replica of another shard."},
		{"cluster-require-full-coverage", "no", "One shard that fails would stop all others."},
		{"cluster-replica-no-failover", "no", "Replicas take over when their primary dies."},
		{"replica-read-only", "yes", "A write to a replica would be lost."},
		{"replica-priority", "100", "Which replica takes over is not a matter of configuration."},
		{"repl-diskless-sync", "yes", "A first copy needs no disk."},
		{"repl-diskless-sync-delay", "0", "Waiting for more replicas makes the first one look stuck."},
		{"repl-backlog-size", "64mb", "A short break does not cost a full copy."},
		{"client-output-buffer-limit", "replica 512mb 256mb 60", "A full copy under load is not cut off."},
		{"shutdown-timeout", fmt.Sprint(shutdownSeconds), "How long, in seconds, a stopping primary waits for its replicas."},
	}
	list = append(list, persistence(c)...)
	if r := c.Spec.Replication; r.MinReplicasToWrite > 0 {
		list = append(list, setting{"min-replicas-to-write", fmt.Sprint(r.MinReplicasToWrite), "spec.replication: fewer replicas than this stop writes."},
			setting{"min-replicas-max-lag", fmt.Sprint(max(1, r.MaxLagSeconds)), "spec.replication: how long ago, in seconds, a replica may last have been heard of."})
	}
	if limit, set := c.Spec.Resources.Limits[corev1.ResourceMemory]; set && !limit.IsZero() {
		list = append(list, setting{"maxmemory", fmt.Sprint(limit.Value() / 4 * 3), "Three quarters of the memory limit, in bytes; the rest is for buffers and copies."})
	}
	return list
}

// persistence is what is kept on disk. Without a volume that would be a disk that goes
// with the pod.
func persistence(c *valkeyv1.ValkeyCluster) []setting {
	p := c.Spec.Persistence
	save, appendonly := `""`, "no"
	if p.Enabled && p.RDB {
		save = "3600 1 300 100 60 10000"
	}
	if p.Enabled && (p.AOF == nil || *p.AOF) {
		appendonly = "yes"
	}
	return []setting{
		{"save", save, "spec.persistence.rdb: when a copy of the data is saved, as seconds and changes."},
		{"appendonly", appendonly, "spec.persistence.aof: whether every change is logged."},
	}
}

func nodeTimeout(c *valkeyv1.ValkeyCluster) int {
	if c.Spec.NodeTimeoutSeconds == 0 {
		return 5
	}
	return int(c.Spec.NodeTimeoutSeconds)
}
