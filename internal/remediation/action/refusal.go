package action

import "fmt"

// Refusal is why an action cannot be done as it was asked for: a sentence for the status of an execution.
type Refusal struct{ Say string }

func (r *Refusal) Error() string { return r.Say }

func refuse(format string, args ...any) *Refusal { return &Refusal{Say: fmt.Sprintf(format, args...)} }

// cut shortens a text to a number of bytes, and says so by an ellipsis.
func cut(s string, most int) string {
	const more = "…"
	switch {
	case len(s) <= most:
		return s
	case most < len(more):
		return ""
	}
	end := most - len(more)
	for end > 0 && s[end]&0xC0 == 0x80 { // within a character
		end--
	}
	return s[:end] + more
}
