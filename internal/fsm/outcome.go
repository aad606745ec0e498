package fsm

import "errors"

// Outcome is what one effect came to.
type Outcome struct {
	Effect Effect
	Ref    string // what the outside gave back, such as a UID
	Err    error
}

// ErrorClass says whether it helps to try again.
type ErrorClass string

// The classes of error.
const (
	Transient ErrorClass = "Transient" // try again later; the class of every other error
	Changed   ErrorClass = "Changed"   // what was decided upon is no longer so: 409, another UID
	Refused   ErrorClass = "Refused"   // invalid, forbidden: the same request fails again
)

var errorClasses = []ErrorClass{Transient, Changed, Refused}

// Error gives an effect's error its class, and words that may be shown.
type Error struct {
	Class ErrorClass
	Err   error
	// Say is one line for a human: what stands in the way and who must act. It goes
	// into the status, so it must not change from try to try. The class, if empty.
	Say string
}

func (e *Error) Error() string { return string(e.Class) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of an effect's error.
func ClassOf(err error) ErrorClass {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Class
	}
	return Transient
}

// Said is what the status may say about an effect's error: never its raw text,
// which carries addresses, request ids and times and so would be written anew
// in every pass.
func Said(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) && e.Say != "" {
		return e.Say
	}
	return string(ClassOf(err))
}

func failure(outcomes []Outcome) (Outcome, bool) {
	for _, o := range outcomes {
		if o.Err != nil {
			return o, true
		}
	}
	return Outcome{}, false
}
