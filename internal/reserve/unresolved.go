package reserve

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
)

// Unresolved marks a target that an operation may have changed; no witness says whether it did. The mark is on the
// reservation, so that it outlives the operation's object: who deletes that does not free the target.
type Unresolved struct {
	// By is the operation whose outcome is unknown. Its zero value is a mark that cannot be read, which is a mark all the same.
	By        Ref
	Requester string // for whom it was done
}

// text is how a mark is written into a Lease, and into the Worlds of transcripts.
type text struct {
	By        string `json:"by"`
	Requester string `json:"requester,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (u Unresolved) MarshalJSON() ([]byte, error) {
	t := text{Requester: u.Requester}
	if u.By != (Ref{}) {
		t.By = u.By.String()
	}
	return json.Marshal(t)
}

// UnmarshalJSON implements json.Unmarshaler.
func (u *Unresolved) UnmarshalJSON(b []byte) error {
	var t text
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	*u = Unresolved{Requester: t.Requester}
	if t.By == "" {
		return nil
	}
	var err error
	u.By, err = ParseRef(t.By)
	return err
}

// MarkUnresolved marks a target for the object that decides it. A mark of another is left as it is.
type MarkUnresolved struct {
	Target    Ref
	Requester string
}

// Resolve removes the mark of one operation: a person has looked at the target.
type Resolve struct {
	Target Ref
	Of     types.UID
}

func (MarkUnresolved) String() string { return "mark-unresolved" }

// Evidence implements fsm.Proven: a mark that is wrong keeps everybody from the target until a person has looked.
func (MarkUnresolved) Evidence() string { return "no witness says what was done to the target" }

func (Resolve) String() string { return "resolve" }
