package access

import (
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Probe is a question to a server: could this user do that? ACL DRYRUN answers it, and
// nothing happens.
type Probe struct {
	User    string
	Words   []string
	Allowed bool // what the answer should be
}

// String is the command.
func (p Probe) String() string { return p.User + ": " + strings.Join(p.Words, " ") }

// examples complete commands that need more than their name.
var examples = map[string]string{
	"acl|deluser": "x", "acl|dryrun": "x ping", "acl|getuser": "x", "acl|setuser": "x",
	"client|kill": "TYPE PRIMARY", "client|setname": "x",
	"cluster|addslotsrange": "0 1", "cluster|countkeysinslot": "0", "cluster|forget": "x", "cluster|getkeysinslot": "0 1",
	"cluster|meet": "127.0.0.1 0", "cluster|migrateslots": "SLOTSRANGE 0 1 NODE x", "cluster|replicate": "x",
	"cluster|setslot": "0 STABLE", "config|get": "x", "config|set": "x y", "migrate": "127.0.0.1 0 key 0 0",
}

// Denied to the operator's user: it cannot read what is stored, nor end a server.
var notOperator = []string{"GET key", "SET key value", "DUMP key", "KEYS *", "EVAL script 0", "SHUTDOWN", "DEBUG x", "FLUSHALL", "MONITOR", "REPLICAOF x 0"}

var (
	isReplication = []string{"PING", "PSYNC ? -1", "SYNC", "REPLCONF ACK 0", "SELECT 0", "RESTORE-ASKING key 0 value"}
	// alsoReplication is for slots that move as a whole.
	alsoReplication = []string{"CLUSTER SYNCSLOTS FINISH", "SET key value", "FUNCTION LOAD x"}
	notReplication  = []string{"GET key", "KEYS *", "CONFIG GET x", "CONFIG SET x y", "ACL SETUSER x", "CLUSTER RESET", "SHUTDOWN", "EVAL script 0"}
)

// What an application does, and what its client does for it.
var (
	isApplication = []string{
		"SET key value", "GET key", "DEL key", "EVAL script 0", "MULTI", "EXEC", "PUBLISH channel x", "SPUBLISH channel x",
		"SUBSCRIBE channel", "KEYS *", "SCAN 0", "FLUSHALL", "DUMP key", "RESTORE key 0 value", "INFO", "WAIT 0 0", "FUNCTION LOAD x",
		"HELLO 3", "PING", "RESET", "SELECT 0", "ROLE", "COMMAND", "READONLY", "READWRITE", "ASKING",
		"CLIENT SETINFO LIB-NAME x", "CLIENT SETNAME x", "CLIENT ID", "CLIENT INFO", "CLIENT TRACKING ON", "CLIENT NO-TOUCH ON", "CLIENT CAPA x",
		"CLUSTER SLOTS", "CLUSTER SHARDS", "CLUSTER NODES", "CLUSTER INFO", "CLUSTER KEYSLOT key", "CLUSTER MYID", "CLUSTER REPLICAS x",
	}
	notApplication = []string{
		"CONFIG GET x", "CONFIG SET x y", "ACL LIST", "ACL SETUSER x", "CLIENT KILL ID 0", "CLIENT PAUSE 0", "DEBUG x", "MONITOR", "SHUTDOWN",
		"REPLICAOF x 0", "PSYNC ? -1", "BGSAVE", "MIGRATE 127.0.0.1 0 key 0 0", "RESTORE-ASKING key 0 value", "MODULE LOAD x",
		"CLUSTER RESET", "CLUSTER FAILOVER", "CLUSTER FORGET x", "CLUSTER MEET 127.0.0.1 0", "CLUSTER SETSLOT 0 STABLE", "CLUSTER ADDSLOTS 0",
	}
)

// Probes are questions whose answers show that every user can do what it must, and
// nothing that it must not.
func Probes(version string, users []User) (list []Probe) {
	ask := func(user string, allowed bool, commands []string) {
		for _, c := range commands {
			list = append(list, Probe{User: user, Words: strings.Fields(c), Allowed: allowed})
		}
	}
	for _, u := range users {
		switch u.Name {
		case Operator:
			for _, c := range OperatorCommands(version) {
				words := strings.Split(strings.ToUpper(c), "|")
				list = append(list, Probe{User: u.Name, Words: append(words, strings.Fields(examples[c])...), Allowed: true})
			}
			ask(u.Name, false, notOperator)
		case Replication:
			ask(u.Name, true, isReplication)
			ask(u.Name, false, notReplication)
			if !topology.Older(version, "9") {
				ask(u.Name, true, alsoReplication)
			}
		default:
			ask(u.Name, true, isApplication)
			ask(u.Name, false, notApplication)
		}
	}
	return list
}
