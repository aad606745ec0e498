package explain

import (
	"strings"
	"testing"
)

// What a person approves is what the person reads: no value can hide, move or colour a part of itself.
func TestNothingIsHidden(t *testing.T) {
	for text, want := range map[string]string{
		"spec.replicas: 2 → 5":      "spec.replicas: 2 → 5",
		"Größe":                     "Größe",
		"\x1b[2Kharmless":           `\u001b[2Kharmless`,
		"\u202egnp.exe":             `\u202egnp.exe`,
		"a\u200bb":                  `a\u200bb`,
		"two\nlines":                `two\u000alines`,
		"\u009b31m":                 `\u009b31m`,
		"a\u00a0b":                  `a\u00a0b`,
		"broken \xff in the middle": "broken \ufffd in the middle",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// Words are wrapped, and values keep every space.
func TestSectionsKeepSpaces(t *testing.T) {
	s := Section{Title: "Plan"}
	s.Add("Why", "a  word", "")
	s.AddExact("Changes", `data.a: "x   y" → "x y"`, strings.Repeat("long ", 20))
	s.Add("Nothing")
	want := "Do it.\n\nPlan\nWhy      a word\nChanges  data.a: \"x   y\" → \"x y\"\n         " +
		strings.Repeat("long ", 20)[:71] + "\n         " + strings.Repeat("long ", 20)[71:] + "\n"
	if got := Paper("Do it.", s, Section{Title: "Empty"}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
