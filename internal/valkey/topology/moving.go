package topology

import "slices"

// OpenSlot is a slot that a server is about to give or to get, key by key. Replicas
// have such slots as well: after a failover the new primary goes on with them.
type OpenSlot struct {
	Slot int `json:"slot"`
	// Importing says that the slot comes; otherwise it goes.
	Importing bool `json:"importing,omitempty"`
	// Peer is the ID of the server at the other end.
	Peer string `json:"peer"`
}

// Migrates says that the server is about to give the slot, and to whom.
func (s *Server) Migrates(slot int) (to string, open bool) { return s.open(slot, false) }

// Imports says that the server is about to get the slot, and from whom.
func (s *Server) Imports(slot int) (from string, open bool) { return s.open(slot, true) }

func (s *Server) open(slot int, importing bool) (string, bool) {
	i := slices.IndexFunc(s.Open, func(o OpenSlot) bool { return o.Slot == slot && o.Importing == importing })
	if i < 0 {
		return "", false
	}
	return s.Open[i].Peer, true
}

// SlotJob is what a server remembers of slots that it gives or gets as a whole. It
// remembers until it is restarted, so a job that is not listed says nothing: who owns
// the slots does.
type SlotJob struct {
	Name string `json:"name"`
	// Importing says that the slots come; otherwise they go.
	Importing bool   `json:"importing,omitempty"`
	Slots     Slots  `json:"slots"`
	Source    string `json:"source"` // ID
	Target    string `json:"target"` // ID
	// State is the server's own word.
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	// Created is when it was begun, in seconds since 1970 by the server's clock.
	Created int64 `json:"created,omitempty"`
	// Remaining is how many bytes of changes are still to be sent, where it says so.
	Remaining int64 `json:"remaining,omitempty"`
}

// The states in which a job ends.
const (
	JobSuccess   = "success"
	JobFailed    = "failed"
	JobCancelled = "cancelled"
)

// Ended says that nothing more will come of the job.
func (j SlotJob) Ended() bool {
	return j.State == JobSuccess || j.State == JobFailed || j.State == JobCancelled
}

// lastSteps are the states in which a job does what cannot be taken back: writes wait, and the slots get another owner.
var lastSteps = []string{"failover-paused", "failover-requested", "failover-granted"}

// ChangesHands says that the slots of the job are just getting another owner.
func (j SlotJob) ChangesHands() bool { return slices.Contains(lastSteps, j.State) }

// FailedInARow is how many of the newest attempts to give slots came to nothing, of those begun since a moment. Jobs that
// were begun in the same second are one attempt.
func FailedInARow(jobs []SlotJob, since int64) (attempts int) {
	last := int64(-1)
	for _, j := range jobs {
		switch {
		case j.Importing:
			continue
		case j.State != JobFailed || j.Created < since:
			return attempts
		case j.Created != last:
			attempts++
		}
		last = j.Created
	}
	return attempts
}
