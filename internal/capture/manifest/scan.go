package manifest

import (
	"bytes"
	"errors"
)

// errSyntax says that something is not JSON, or not what it should be.
var errSyntax = errors.New("not as expected in JSON")

// Field is one field of a JSON object, as it was sent.
type field struct {
	name  string
	value []byte
}

// fieldsOf splits a JSON object into its fields. Values are parts of raw: they are not decoded,
// and only their ends are looked for. Names of fields are plain in every API; one that is
// escaped keeps its escapes.
func fieldsOf(raw []byte) ([]field, error) {
	s := scanner{raw: raw}
	var fields []field
	err := s.list('{', '}', func() error {
		name, err := s.value()
		if err != nil || len(name) < 2 || name[0] != '"' {
			return errSyntax
		}
		if !s.skip(':') {
			return errSyntax
		}
		value, err := s.value()
		fields = append(fields, field{string(name[1 : len(name)-1]), value})
		return err
	})
	return fields, err
}

// itemsOf splits a JSON array.
func itemsOf(raw []byte) ([][]byte, error) {
	s := scanner{raw: raw}
	var items [][]byte
	err := s.list('[', ']', func() error {
		item, err := s.value()
		items = append(items, item)
		return err
	})
	return items, err
}

// scanner finds where values of JSON end.
type scanner struct {
	raw []byte
	at  int
}

func (s *scanner) space() {
	for s.at < len(s.raw) {
		switch s.raw[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// skip goes past a letter, if it is the next.
func (s *scanner) skip(letter byte) bool {
	s.space()
	if s.at < len(s.raw) && s.raw[s.at] == letter {
		s.at++
		return true
	}
	return false
}

// list calls each for every element between two brackets.
func (s *scanner) list(open, end byte, each func() error) error {
	if !s.skip(open) {
		return errSyntax
	}
	if s.skip(end) {
		return nil
	}
	for {
		if err := each(); err != nil {
			return err
		}
		if s.skip(end) {
			return nil
		}
		if !s.skip(',') {
			return errSyntax
		}
	}
}

// value is the value that comes next.
func (s *scanner) value() ([]byte, error) {
	s.space()
	from := s.at
	for depth := 0; s.at < len(s.raw); {
		switch c := s.raw[s.at]; c {
		case '"':
			if !s.text() {
				return nil, errSyntax
			}
		case '{', '[':
			depth++
			s.at++
			continue
		case '}', ']':
			if depth == 0 {
				return s.plain(from)
			}
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return s.plain(from)
			}
			s.at++
			continue
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return s.raw[from:s.at], nil
		}
	}
	return s.plain(from)
}

// plain is a number or a word, which ends where something else begins.
func (s *scanner) plain(from int) ([]byte, error) {
	if s.at == from || bytes.ContainsAny(s.raw[from:s.at], `{}[]"`) {
		return nil, errSyntax
	}
	return s.raw[from:s.at], nil
}

// text goes past a text: the next quote that is not escaped ends it.
func (s *scanner) text() bool {
	for at := s.at + 1; ; {
		end := bytes.IndexByte(s.raw[at:], '"')
		if end < 0 {
			return false
		}
		at += end
		escapes := 0
		for s.raw[at-1-escapes] == '\\' {
			escapes++
		}
		at++
		if escapes%2 == 0 {
			s.at = at
			return true
		}
	}
}
