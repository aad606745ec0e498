package reserve

import "github.com/statecraft-dev/statecraft/internal/fsm"

// State says whose a reservation is; "" is not read.
type State string

// The states of a reservation.
const (
	Free   State = "Free"   // of no holder, or of one that is gone or rests
	Ours   State = "Ours"   // of the object that looks
	Others State = "Others" // of another, which may be at work
)

// Fact is who may operate on a target, as a World has it.
type Fact struct {
	State  State  `json:"state,omitempty"`
	Holder string `json:"holder,omitempty"` // of Others, for a person
	// Unresolved is the mark on the target, if it bears one.
	Unresolved *Unresolved `json:"unresolved,omitempty"`
}

// Held is a hold's: it applies while another holds the target, and names that one.
func (f Fact) Held(target string) (message string, held bool) {
	return "Waiting for " + f.Holder + ", which has reserved " + target + ", to release it.", f.State == Others
}

// After is the fact once an effect was performed, for models. A model does not know for which object: a mark is then by nobody.
func (f Fact) After(e fsm.Effect) Fact {
	switch e := e.(type) {
	case Take:
		if f.State == Free {
			f.State, f.Holder = Ours, ""
		}
	case Release:
		if f.State == Ours {
			f.State = Free
		}
	case MarkUnresolved:
		if f.Unresolved == nil {
			f.Unresolved = &Unresolved{Requester: e.Requester}
		}
	case Resolve:
		if f.Unresolved != nil && e.Of != "" && f.Unresolved.By.UID == e.Of {
			f.Unresolved = nil
		}
	}
	return f
}

// Take reserves a target for the object that decides it; the adapter performs it. To take
// again what one holds does nothing.
type Take struct{ Target Ref }

// Release gives a target back, if the object that decides it holds it.
type Release struct{ Target Ref }

func (Take) String() string    { return "take-reservation" }
func (Release) String() string { return "release-reservation" }
