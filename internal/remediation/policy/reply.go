package policy

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of what a pack may answer. What is longer is cut, so that it fits into a status.
const (
	MaxReasons = 16
	MaxLength  = 512 // of a reason, a message and a problem
)

// ProblemExceeded is that of a pack whose evaluation was killed. It does not say whether time or
// memory ran out: that differs from try to try, and a status that flaps tells its reader nothing.
const ProblemExceeded = "The evaluation of the policy pack was stopped: it took longer than 2 s or needed more than 256 MiB of memory. " +
	"Look for rules that multiply large collections or build long strings."

// Answer is what a pack decides about an execution.
type Answer struct {
	Allow           bool     `json:"allow"`
	RequireApproval bool     `json:"requireApproval"`
	RequireDryRun   bool     `json:"requireDryRun"`
	Reasons         []string `json:"reasons,omitempty"`
}

// Verdict is what a condition came to. Message says why it could not be asked; it is empty for one
// that was asked and does not hold.
type Verdict struct {
	Holds   bool   `json:"holds"`
	Message string `json:"message,omitempty"`
}

// Reply is what comes back from a question.
type Reply struct {
	Answer Answer `json:"answer"`
	// Conditions are the verdicts by name of the condition, one for each that was asked about.
	Conditions map[string]Verdict `json:"conditions,omitempty"`
	// Problem says why the pack has no answer, in words for a status. Then nothing is allowed.
	Problem string `json:"problem,omitempty"`
	// InvalidPack says that the problem is that the pack does not compile: it has no answer to any question.
	InvalidPack bool `json:"invalidPack,omitempty"`
	// Pack is the digest of the pack that answered, if that is not the one of the question.
	Pack string `json:"pack,omitempty"`
}

// Deny is the reply to a question that the pack has no answer to.
func Deny(q Question, problem string) Reply {
	problem = Cut(problem)
	r := Reply{Problem: problem}
	for _, c := range q.Conditions {
		if r.Conditions == nil {
			r.Conditions = map[string]Verdict{}
		}
		r.Conditions[c.Name] = Verdict{Message: problem}
	}
	return r
}

// Cut shortens a text to what a status takes, and drops what is no UTF-8.
func Cut(text string) string {
	text = strings.ToValidUTF8(text, "")
	if utf8.RuneCountInString(text) <= MaxLength {
		return text
	}
	runes := 0
	for i := range text {
		if runes++; runes == MaxLength {
			return text[:i] + "…"
		}
	}
	return text
}

// Clone is a copy that shares nothing with the reply.
func (r Reply) Clone() Reply {
	r.Answer.Reasons = slices.Clone(r.Answer.Reasons)
	r.Conditions = maps.Clone(r.Conditions)
	return r
}
