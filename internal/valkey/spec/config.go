package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// The files that servers are configured by. What a server takes only when it starts belongs
// to its pod, which bears it as an annotation: a file that all pods share would change under
// those that were not replaced yet, and one that restarts by itself would start with what was
// never tried, or look for its data where it never wrote any. What is changed while servers
// run is in the ConfigMap, which is of all.
const (
	ConfigFile = "valkey.conf"
	LiveFile   = "live.conf"
	// explainedFile is read by people only.
	explainedFile = "explained.conf"
)

// The files by which pods know what the cluster is, also while no manager runs.
const (
	// FormedFile exists once the cluster was formed. It is the manager's mark, and no part of what is applied here.
	FormedFile = "formed"
	// ReplicasFile holds the number of replicas that each primary should have.
	ReplicasFile = "replicas"
)

// setting is one line that the operator owns, and why it does.
type setting struct{ directive, value, why string }

// ConfigMap holds what is changed while servers run. Every line is understood by Valkey 8.0
// and everything after it.
func ConfigMap(c *valkeyv1.ValkeyCluster) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: owned(c, EndpointName(c), Labels(c)),
		Data:       map[string]string{LiveFile: liveConfig(c), explainedFile: explained(c), ReplicasFile: fmt.Sprintln(replicas(c))},
	}
}

func replicas(c *valkeyv1.ValkeyCluster) int32 { return ptr.Deref(c.Spec.ReplicasPerMaster, 1) }

// Config is what the servers of a pod take when they start. There are no words in it: other
// words in a new release would be another template, and restart every server.
func Config(c *valkeyv1.ValkeyCluster) string {
	var b strings.Builder
	for _, s := range settings(c) {
		fmt.Fprintf(&b, "%s %s\n", s.directive, s.value)
	}
	writeConfig(&b, c, NeedsRestart)
	return b.String()
}

func liveConfig(c *valkeyv1.ValkeyCluster) string {
	var b strings.Builder
	t := timeout(c)
	fmt.Fprintf(&b, "%s %s\n%s", t.directive, t.value, liveHeader)
	writeConfig(&b, c, func(directive string) bool { return !NeedsRestart(directive) })
	return b.String()
}

func explained(c *valkeyv1.ValkeyCluster) string {
	var b strings.Builder
	b.WriteString("# What the spec of the ValkeyCluster asks for; edit that instead. Servers read " + LiveFile + ", and\n" +
		"# what their pods bear in the annotation " + configAnnotation + ".\n")
	for _, s := range append(settings(c), timeout(c)) {
		fmt.Fprintf(&b, "\n# %s\n%s %s\n", s.why, s.directive, s.value)
	}
	if len(c.Spec.Config) > 0 {
		b.WriteString("\n# From spec.config.\n")
	}
	writeConfig(&b, c, func(string) bool { return true })
	return b.String()
}

// writeConfig writes those lines of spec.config that are asked for.
func writeConfig(b *strings.Builder, c *valkeyv1.ValkeyCluster, wanted func(directive string) bool) {
	for _, directive := range slices.Sorted(maps.Keys(c.Spec.Config)) {
		if wanted(directive) {
			fmt.Fprintf(b, "%s %s\n", directive, c.Spec.Config[directive])
		}
	}
}

// timeout is changed while servers run.
func timeout(c *valkeyv1.ValkeyCluster) setting {
	return setting{"cluster-node-timeout", fmt.Sprint(nodeTimeout(c) * 1000), "spec.nodeTimeoutSeconds, in milliseconds."}
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
		{"cluster-allow-replica-migration", "no", "A primary without slots would turn into a replica of another shard."},
		{"cluster-require-full-coverage", "no", "One shard that fails would stop all others."},
		{"cluster-replica-no-failover", "no", "Replicas take over when their primary dies."},
		{"replica-read-only", "yes", "A write to a replica would be lost."},
		{"replica-priority", "100", "Which replica takes over is not a matter of configuration."},
		{"repl-diskless-sync", "yes", "A first copy needs no disk."},
		{"repl-diskless-sync-delay", "0", "Waiting for more replicas makes the first one look stuck."},
		{"repl-backlog-size", backlog(c), "A short break does not cost a full copy."},
		{"client-output-buffer-limit", outputBuffer(c), "A full copy under load is not cut off."},
		{"shutdown-timeout", fmt.Sprint(shutdownSeconds), "How long, in seconds, a stopping primary waits for its replicas."},
	}
	list = append(list, persistence(c)...)
	if r := c.Spec.Replication; r.MinReplicasToWrite > 0 {
		list = append(list, setting{"min-replicas-to-write", fmt.Sprint(r.MinReplicasToWrite), "spec.replication: fewer replicas than this stop writes."},
			setting{"min-replicas-max-lag", fmt.Sprint(max(1, r.MaxLagSeconds)), "spec.replication: how long ago, in seconds, a replica may last have been heard of."})
	}
	if limit, set := memoryLimit(c); set {
		list = append(list, setting{"maxmemory", fmt.Sprint(limit / 4 * 3), "Three quarters of the memory limit, in bytes; the rest is for buffers and copies."})
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
