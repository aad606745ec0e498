package ledger

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

// Reasons are those for which rights are granted that no log shows in use, by Right.
type Reasons map[string]string

// reason is an entry of the list: rights of one role that are there for the same reason.
type reason struct {
	Rights []string `json:"rights"`
	Why    string   `json:"why"`
}

var sentence = regexp.MustCompile(`^[A-Z][^\n]+\.$`)

// ParseReasons reads a list of reasons, by role.
func ParseReasons(text []byte) (Reasons, error) {
	var byRole map[string][]reason
	if err := yaml.UnmarshalStrict(text, &byRole); err != nil {
		return nil, fmt.Errorf("read reasons: %w", err)
	}
	all := Reasons{}
	for role, entries := range byRole {
		for _, entry := range entries {
			if !sentence.MatchString(entry.Why) {
				return nil, fmt.Errorf("the reason for %s of %s is no sentence: %q", entry.Rights, role, entry.Why)
			}
			for _, right := range entry.Rights {
				key := role + " " + right
				if _, twice := all[key]; twice {
					return nil, fmt.Errorf("%s of %s has two reasons", right, role)
				}
				all[key] = entry.Why
			}
		}
	}
	return all, nil
}

// For is the reason for a right, or nothing.
func (r Reasons) For(right Right) string { return r[right.key()] }

// Judgement is how a list of reasons and a ledger differ.
type Judgement struct {
	Unexplained []Right  // neither used nor explained
	NotGranted  []string // explained, and no role grants it
	Refuted     []Right  // explained as unused, and used
}

// Judge compares the rights of accounts with the reasons for what is not used.
func (l *Ledger) Judge(reasons Reasons) (j Judgement) {
	granted := map[string]bool{}
	for _, right := range l.grants.rights {
		granted[right.key()] = true
		used, explained := l.used[right] > 0, reasons.For(right) != ""
		switch {
		case !used && !explained:
			j.Unexplained = append(j.Unexplained, right)
		case used && explained:
			j.Refuted = append(j.Refuted, right)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(reasons)) {
		if !granted[key] {
			j.NotGranted = append(j.NotGranted, key)
		}
	}
	return j
}
