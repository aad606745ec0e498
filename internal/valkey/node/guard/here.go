package guard

import (
	"github.com/statecraft-dev/statecraft/internal/valkey/node/nodesconf"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Data is what a server would load when it starts.
type Data string

// What there may be to load.
const (
	Nothing  Data = "nothing"
	Snapshot Data = "a snapshot" // of some moment: replicas may have more
	Log      Data = "every change"
)

// Here is the server that is about to start.
type Here struct {
	Addr string // where it will be found
	Data Data
	// Held says that it had keys when it was last looked at.
	Held bool
	// Known is what it wrote when it last ran; nil if it has no memory.
	Known *nodesconf.File
	// Settled says that it has looked for so long that whoever lives was seen.
	Settled bool
	// Late says that it has waited for as long as it may.
	Late bool
}

// Seen is a server that answered, and where.
type Seen struct {
	Addr string
	*topology.Server
}

// holds says that a server is worth being kept from harm.
func (s Seen) holds() bool { return s.Keys > 0 || s.Offset > 0 }

// Verdict is what to do now.
type Verdict struct {
	Do Action
	// Addr and ID are of the replica that is to become the primary, or has; Epoch is in which
	// it has.
	Addr, ID string
	Epoch    int64
	// DataMissing says that the server lost its data, and that no server that followed it is known to have it.
	DataMissing bool
	// Words say why, and what is awaited.
	Words string
}

// Action is one of six.
type Action string

// What a verdict may say.
const (
	Start    Action = "start"    // open the port
	Ask      Action = "ask"      // ask a replica to become the primary, then look again
	Takeover Action = "takeover" // make it the primary without asking the others, then look again
	Follow   Action = "follow"   // be a replica of the one that is named, then look again
	Wait     Action = "wait"     // look again
	Refuse   Action = "refuse"   // give up; whoever started this program starts it again
)
