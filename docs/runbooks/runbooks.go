// Package runbooks is the runbooks as programs read them: for each reason the section that people
// read, who must act, and what to do.
package runbooks

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

//go:embed *.md
var files embed.FS

// Everywhere is the page of reasons that any kind can have.
const Everywhere = "statecraft"

// Actors are those who can be called upon to act.
var Actors = []string{"Statecraft", "the owner of the object", "an approver", "the platform team", "the storage team"}

// Section is one heading of a runbook with what stands below it.
type Section struct {
	Page    string // without .md: an area, or Everywhere
	Chapter string // the heading of the second level above it: a kind, say
	Title   string
	Anchor  string   // what a link calls it
	Acts    []string // who must act; empty where no reason is explained
	Text    []string // its paragraphs
}

// Reasons are those that the section is about.
func (s Section) Reasons() []string { return strings.Split(s.Title, ", ") }

// Link is where the section is in the repository.
func (s Section) Link() string { return "docs/runbooks/" + s.Page + ".md#" + s.Anchor }

// Advice is the first paragraph, without the syntax of links.
func (s Section) Advice() string {
	if len(s.Text) == 0 {
		return ""
	}
	return link.ReplaceAllString(strings.Join(strings.Fields(s.Text[0]), " "), "$1")
}

// All are the sections of all pages. Pages that cannot be parsed do not pass the tests.
var All = sync.OnceValues(func() ([]Section, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var all []Section
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		page, err := Parse(strings.TrimSuffix(e.Name(), ".md"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
	}
	return all, nil
})

// Find is the section about a reason that an object of a kind gives: of the kind itself, or else
// of a chapter that is about no kind, of its area or of all. kinds are those of the area.
func Find(area, kind, reason string, kinds ...string) (Section, bool) {
	all, err := All()
	if err != nil {
		return Section{}, false
	}
	explains := func(s Section) bool { return len(s.Acts) > 0 && slices.Contains(s.Reasons(), reason) }
	for _, fits := range []func(Section) bool{
		func(s Section) bool { return s.Page == area && s.Chapter == kind },
		func(s Section) bool { return s.Page == area && !slices.Contains(kinds, s.Chapter) },
		func(s Section) bool { return s.Page == Everywhere },
	} {
		if i := slices.IndexFunc(all, func(s Section) bool { return fits(s) && explains(s) }); i >= 0 {
			return all[i], true
		}
	}
	return Section{}, false
}
