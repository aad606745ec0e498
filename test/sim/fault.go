package sim

import "slices"

// Fault is one thing that goes wrong at one boundary.
type Fault string

// The faults. A crash after a call is the crash before the next.
const (
	Crash         Fault = "crash"          // the process ends before the call
	TimedOut      Fault = "timed-out"      // the call is performed and told of, its answer is lost
	Conflict      Fault = "conflict"       // 409, nothing is performed
	Unavailable   Fault = "unavailable"    // 500, nothing is performed
	Stale         Fault = "stale"          // the process's cache stands still from here on, for a while
	Rewound       Fault = "rewound"        // the process ends; the cache of the next begins in the past
	RewoundOthers Fault = "rewound-others" // the same, but it sees objects of the main kind as they are
	LostEvent     Fault = "lost-event"     // nobody is told what this call changed
	RepeatedEvent Fault = "repeated-event" // it is told again, later
	EarlyEvent    Fault = "early-event"    // it is told before the call is answered
	TwoLeaders    Fault = "two-leaders"    // another process makes one pass in the middle of this one's
	Takeover      Fault = "takeover"       // another process does all there is to do meanwhile
	ClockJump     Fault = "clock-jump"     // ten minutes pass in the middle of the pass
	Wiped         Fault = "status-wiped"   // somebody clears the status of the main object
	Meddled       Fault = "meddled"        // somebody else writes what the story is about: Play.Meddle
)

// Faults are all of them, in the order in which they are printed.
var Faults = []Fault{
	Crash, TimedOut, Conflict, Unavailable, Stale, Rewound, RewoundOthers, LostEvent, RepeatedEvent, EarlyEvent,
	TwoLeaders, Takeover, ClockJump, Wiped, Meddled,
}

// at says that the fault can change anything at such a call.
func (f Fault) at(c *Call) bool {
	// Nothing is told to anybody between two reads of a cache, so that it happens
	// before the second of them is as if before the next call that goes out.
	idle := c.kind == cachedRead && !c.leads
	switch {
	case f == Meddled:
		return c.exposed && c.kind != byUser && !idle
	case f.tells() || c.kind == byUser || c.kind == played:
		return f.tells() && c.wakes > 0
	}
	return f.breaks(c, idle)
}

// breaks says that the fault can change anything at a call that the controllers make.
func (f Fault) breaks(c *Call, idle bool) bool {
	switch f {
	case TimedOut, EarlyEvent:
		return c.changes()
	case Conflict:
		return c.kind == write
	case Unavailable:
		return c.kind != cachedRead // a cache always answers
	case Wiped: // or before the next that reads it
		return c.placed && (!idle || c.ofMain)
	case Crash, Stale, Rewound, RewoundOthers, ClockJump:
		return !idle
	}
	return true
}

// tells says that the fault is in how a change is told of.
func (f Fault) tells() bool { return f == LostEvent || f == RepeatedEvent }

func (f Fault) in(list []Fault) bool { return len(list) == 0 || slices.Contains(list, f) }
