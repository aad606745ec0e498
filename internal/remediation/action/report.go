package action

import (
	"math"
	"slices"
	"unicode/utf8"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// Why an action did not do what was planned, as executions spell it.
const (
	ReasonTargetChanged = "target_changed"
	ReasonFailed        = "execution_failed"
	ReasonTimeout       = "execution_timeout"
	// ReasonIncomplete is that of an action of many writes that was done in part: its effect is Applied.
	ReasonIncomplete = "execution_incomplete"
)

// Report is the last word of an action: the termination message of its pod.
type Report struct {
	// Effect is Applied, NotApplied or Unknown. NotApplied is a promise: nothing was written, and
	// nothing that was sent can be written later. Who cannot promise that says Unknown.
	Effect remediationv1.Effect `json:"effect"`
	// Token is what the action left on the target.
	Token string `json:"token,omitempty"`
	// Affected is how many objects were changed; Resources are the first of them.
	Affected  int32                            `json:"affected,omitempty"`
	Resources []remediationv1.ResourceAffected `json:"resources,omitempty"`
	Warnings  []string                         `json:"warnings,omitempty"`
	// Reason and Error say why the action did not do all that was planned, for machines and for people.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// After is the hash of the footprint as the action left it; empty if that is not known.
	After string `json:"after,omitempty"`
}

const (
	// MaxReport is the most bytes that a kubelet keeps of a termination message.
	MaxReport    = 4096
	maxResources = 20
	maxWarnings  = 16
	maxWarning   = 512
	maxError     = 1024
	maxState     = 256
	maxToken     = 128
	maxEffect    = 16
	maxName      = 63
	maxHash      = 64
)

// JSON writes a report in at most MaxReport bytes. What does not fit is cut; effect, token, reason,
// hash and the number of objects always fit.
func (r Report) JSON() []byte {
	r = r.bounded()
	for length := maxError; ; length /= 2 {
		out := canonical(r)
		switch {
		case len(out) <= MaxReport:
			return out
		case len(r.Warnings) > 1:
			r.Warnings = r.Warnings[:len(r.Warnings)/2]
		case len(r.Resources) > 1:
			r.Resources = r.Resources[:len(r.Resources)/2]
		case length == 0:
			r.Resources, r.Warnings = nil, nil
		default:
			r = r.shortened(length)
		}
	}
}

// bounded is a report within the bounds of a status.
func (r Report) bounded() Report {
	r.Effect = remediationv1.Effect(clean(string(r.Effect), maxEffect))
	r.Token, r.Reason, r.After = clean(r.Token, maxToken), clean(r.Reason, maxName), clean(r.After, maxHash)
	r.Affected = max(r.Affected, int32(min(len(r.Resources), math.MaxInt32)))
	r.Resources = slices.Clone(r.Resources[:min(len(r.Resources), maxResources)])
	for i, o := range r.Resources {
		r.Resources[i] = remediationv1.ResourceAffected{
			Kind: clean(o.Kind, maxName), Namespace: clean(o.Namespace, maxName), Name: clean(o.Name, defaultLength),
			Action: clean(o.Action, maxName), Before: clean(o.Before, maxState), After: clean(o.After, maxState),
		}
	}
	r.Warnings = slices.Clone(r.Warnings[:min(len(r.Warnings), maxWarnings)])
	for i := range r.Warnings {
		r.Warnings[i] = clean(r.Warnings[i], maxWarning)
	}
	r.Error = clean(r.Error, maxError)
	return r
}

// shortened has less of every text that may be long.
func (r Report) shortened(length int) Report {
	r.Error = cut(r.Error, length)
	for i := range r.Warnings {
		r.Warnings[i] = cut(r.Warnings[i], length)
	}
	for i := range r.Resources {
		r.Resources[i].Before, r.Resources[i].After = cut(r.Resources[i].Before, length), cut(r.Resources[i].After, length)
	}
	return r
}

// clean is valid text of at most so many bytes.
func clean(s string, most int) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // what is no character becomes U+FFFD
	}
	return cut(s, most)
}
