package pool

import "github.com/statecraft-dev/statecraft/internal/edge/node"

// World is what a pool may look at.
type World struct {
	// Looked says that the Nodes of the pool were read. Without it the rest says nothing.
	Looked bool   `json:"looked,omitempty"`
	Access Access `json:"access,omitzero"`
	Survey Survey `json:"survey,omitzero"`
	Nodes  int    `json:"nodes,omitempty"`
	Pods   Pods   `json:"pods,omitzero"`
	// Problems are devices that cannot be announced.
	Problems []Problem `json:"problems,omitempty"`
	// Entries is how many entries of this cluster the devices of the pool have, and Orphans those that no pod of the live
	// list has.
	Entries int      `json:"entries,omitempty"`
	Orphans []Orphan `json:"orphans,omitempty"`
	// Unasked are devices that run an application of ours which their spec does not have.
	Unasked []string `json:"unasked,omitempty"`
	// Marked are devices with our mark and nothing else of ours.
	Marked []string `json:"marked,omitempty"`

	Gone bool `json:"gone,omitempty"` // the pool itself; only the model says so
}

// Access is what Flight Control answers, by the credentials of the spec as it is.
type Access struct {
	State AccessState `json:"state,omitempty"`
	Words string      `json:"words,omitempty"` // why it is not Answered, as a sentence
	Since int64       `json:"since,omitempty"` // in seconds
}

// AccessState is what became of the last requests; "" is that none was made since the spec was changed.
type AccessState string

// The states of access.
const (
	Answered    AccessState = "Answered"
	Denied      AccessState = "Denied"      // the credentials are missing, not valid, or do not suffice
	Unreachable AccessState = "Unreachable" // no answer, or one that says that the server is in trouble
)

// Survey is the last complete sweep of the pool's devices.
type Survey struct {
	// Complete says that every page was read since Flight Control answered again.
	Complete  bool `json:"complete,omitempty"`
	Devices   int  `json:"devices,omitempty"`
	Connected int  `json:"connected,omitempty"`
}

// Pods are those that are bound to Nodes of the pool.
type Pods struct {
	// Listed says that a live list of all pods of the cluster was read since.
	Listed bool     `json:"listed,omitempty"`
	Count  int      `json:"count,omitempty"`
	Some   []string `json:"some,omitempty"` // the first of them
}

// Problem is a device that cannot be announced.
type Problem struct {
	Device string       `json:"device"`
	Why    node.Problem `json:"why"`
}

// Orphan is what this cluster has put on a device, an application with its files, and what no pod has.
type Orphan struct {
	Device string `json:"device"`
	Name   string `json:"name"`
	// Looks is how often in a row both sides were read and it was one, and Since when that began, in seconds.
	Looks int   `json:"looks,omitempty"`
	Since int64 `json:"since,omitempty"`
}

// surveyed says that both sides were read completely: Flight Control and the pods.
func (w World) surveyed() bool {
	return w.Looked && w.Access.State == Answered && w.Survey.Complete && w.Pods.Listed
}
