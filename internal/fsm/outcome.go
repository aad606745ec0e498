package fsm

import (
	"errors"
	"fmt"
)

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
	Contested ErrorClass = "Contested" // others own what was to be written; a person must say whose it is
)

// ErrorClasses are all there are.
var ErrorClasses = []ErrorClass{Transient, Changed, Refused, Contested}

// Error gives an effect's error its class, and words that may be shown.
type Error struct {
	Class ErrorClass
	Err   error
	// Reason becomes that of the edge that the error fires, and of the condition while
	// the effect backs off. Without one the event, or the decision, is the reason.
	Reason Reason
	// Say is a sentence for a human: what stands in the way and who must act. It goes
	// into the status, so it must not change from try to try.
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

// ReasonOf is the reason that an effect's error gives, if it gives one.
func ReasonOf(err error) Reason {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// StatusMessage is the sentence that an effect's error has for the status, if it has one.
func StatusMessage(err error) string {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Say
	}
	return ""
}

var inWords = map[ErrorClass]string{
	Transient: "Step %q failed and is tried again; the manager's log has the error.",
	Changed:   "Step %q was decided for a state that has changed since; the manager decides anew.",
	Refused:   "Step %q was refused; the manager's log has the error.",
	Contested: "Step %q would write fields that others own; a person must decide whose they are.",
}

// Message is what a failed effect is reported as: never the raw text of its error, which has
// addresses, request ids and times in it, and so would be written anew in every pass.
func (o Outcome) Message() string {
	if say := StatusMessage(o.Err); say != "" {
		return say
	}
	return fmt.Sprintf(inWords[ClassOf(o.Err)], o.Effect)
}

func failure(outcomes []Outcome) (Outcome, bool) {
	for _, o := range outcomes {
		if o.Err != nil {
			return o, true
		}
	}
	return Outcome{}, false
}
