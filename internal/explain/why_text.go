package explain

import (
	"fmt"
	"strings"
)

// Text is the answer in lines of at most 80 characters.
func (a Answer) Text() string {
	p := &page{}
	p.indented(0, a.Summary)
	p.line("")
	switch {
	case a.Reason != "" && a.Message != "":
		p.labelled("Why", a.Reason+": "+a.Message)
	case a.Reason != "":
		p.labelled("Why", a.Reason+".")
	}
	p.labelled("Until", a.Until...)
	if a.AsWished {
		p.labelled("Acts", "Nothing is awaited; no person needs to act.")
	} else {
		p.labelled("Acts", strings.Join(a.Acts, ", "))
	}
	p.labelled("Manager", a.Manager)
	p.labelled("To do", a.Advice)
	p.labelled("", a.readOn())
	p.labelled("Parts", a.Lanes...)
	p.labelled("Next", a.Next...)
	var events []string
	for _, e := range a.Events {
		events = append(events, e.text(a.Message))
	}
	p.labelled("Events", events...)
	p.labelled("Note", a.Notes...)
	return p.String()
}

// readOn leads to the section, if that fits into a line, or to its page.
func (a Answer) readOn() string {
	text := "Read on: " + a.ReadOn
	if a.ReadOn == "" {
		return ""
	}
	if len(text) > columns-labels {
		page, _, _ := strings.Cut(text, "#")
		return page + ", section " + a.Reason
	}
	return text
}

// text does not repeat what was said before.
func (e Event) text(before string) string {
	times := ""
	if e.Count > 1 {
		times = fmt.Sprintf(" (%d times)", e.Count)
	}
	note := e.Note
	if rest, same := strings.CutPrefix(note, before); same && before != "" {
		note = "the same as above." + rest
	}
	return fmt.Sprintf("%s %s%s: %s", Moment(e.At), e.Reason, times, note)
}
