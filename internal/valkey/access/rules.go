package access

import (
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// operatorCommands is every command that package wire and the program beside the
// servers send. A test reads their sources and compares.
var operatorCommands = []string{
	"acl|deluser", "acl|dryrun", "acl|getuser", "acl|setuser", "acl|users",
	"client|kill", "client|list", "client|setname",
	"cluster|addslotsrange", "cluster|bumpepoch", "cluster|countkeysinslot", "cluster|failover", "cluster|forget", "cluster|getkeysinslot",
	"cluster|info", "cluster|meet", "cluster|myid", "cluster|myshardid", "cluster|nodes", "cluster|replicate",
	"cluster|reset", "cluster|setslot", "cluster|shards",
	"config|get", "config|set", "info", "migrate", "ping", "role",
}

// sinceNine are those that older servers do not know: they do not start with a rule
// about a command that is none.
var sinceNine = []string{"cluster|cancelslotmigrations", "cluster|getslotmigrations", "cluster|migrateslots"}

// OperatorCommands lists what the operator's user may do on a server of a version.
func OperatorCommands(version string) []string {
	list := slices.Clone(operatorCommands)
	if !topology.Older(version, "9") {
		list = append(list, sinceNine...)
	}
	slices.Sort(list)
	return list
}

// operatorRules name all keys, because keys that are sent to another server are named.
// The user can neither read nor write one.
func operatorRules(version string) []string {
	return allow([]string{"~*"}, OperatorCommands(version))
}

// replicationRules are for servers that log on to each other: as a replica to its
// primary (by SYNC on the second of two channels), and as the source of slots to their target. Key by key, the source restores;
// as a whole, it sends every change that its clients make, too.
func replicationRules(version string) []string {
	rules := allow([]string{"~*"}, []string{"ping", "psync", "sync", "replconf", "select", "restore-asking"})
	if !topology.Older(version, "9") {
		rules = append(rules, "+cluster|syncslots", "+@write", "+function")
	}
	return rules
}

// applicationRules are everything but administration. Flushing, listing and restoring
// keys is not administration: it is done to the application's own. Sending keys to
// another server is, and so is exchanging databases.
func applicationRules() []string {
	return []string{
		"~*", "&*", "+@all", "-@admin", "-migrate", "-restore-asking", "-swapdb",
		"+role", "+cluster|replicas", "+cluster|slaves", // clients look for replicas
	}
}

func allow(rules, commands []string) []string {
	for _, c := range commands {
		rules = append(rules, "+"+strings.ToLower(c))
	}
	return rules
}
