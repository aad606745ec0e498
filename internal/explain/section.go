package explain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Section is what an area itself says about an object of one of its kinds.
type Section struct {
	Title   string  `json:"title"`
	Entries []Entry `json:"entries"`
}

// Entry is a word and what is said behind it, each value from a line of its own on.
type Entry struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	// Exact values are shown with every space that they have.
	Exact bool `json:"-"`
}

// Add adds an entry, unless nothing is to be said.
func (s *Section) Add(name string, values ...string) {
	s.add(Entry{Name: name, Values: values})
}

// AddExact adds an entry whose values are shown with every space that they have.
func (s *Section) AddExact(name string, values ...string) {
	s.add(Entry{Name: name, Values: values, Exact: true})
}

func (s *Section) add(e Entry) {
	var said []string
	for _, v := range e.Values {
		if v != "" {
			said = append(said, v)
		}
	}
	if e.Values = said; len(said) > 0 {
		s.Entries = append(s.Entries, e)
	}
}

// Paper is a text in lines of at most 80 characters: a sentence, and sections below it.
func Paper(head string, sections ...Section) string {
	p := &page{}
	p.indented(0, Visible(head))
	p.sections(sections)
	return p.String()
}

func (p *page) sections(all []Section) {
	for _, s := range all {
		if len(s.Entries) == 0 {
			continue
		}
		p.line("\n" + s.Title)
		for _, e := range s.Entries {
			label, write := e.Name, p.labelled
			if e.Exact {
				write = p.exact
			}
			for _, v := range e.Values {
				write(label, Visible(v))
				label = ""
			}
		}
	}
}

// exact writes texts behind a word, broken wherever a line is full, and otherwise as they are.
func (p *page) exact(label string, texts ...string) {
	for _, text := range texts {
		for runes := []rune(text); len(runes) > 0; label = "" {
			n := min(len(runes), columns-labels)
			p.WriteString(pad(label, labels) + string(runes[:n]) + "\n")
			runes = runes[n:]
		}
	}
}

// Visible is a text in which nothing can be hidden: what a terminal would obey, leave out or turn round is written as its
// number. People approve what they read.
func Visible(text string) string {
	if strings.IndexFunc(text, hides) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hides(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hides(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
