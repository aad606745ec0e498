package runbooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const actsLine = "Acts: "

var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// Parse reads a page: its headings of the second and third level, and what stands below each.
func Parse(page, text string) (all []Section, err error) {
	anchors := map[string]int{}
	chapter, fenced := "", false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		level, title, heads := heading(line)
		if fenced || !heads {
			continue
		}
		name := unique(anchors, Anchor(title))
		if level == 1 {
			continue
		}
		if level == 2 {
			chapter = title
		}
		s := Section{Page: page, Chapter: chapter, Title: title, Anchor: name}
		if s.Acts, s.Text, err = body(lines[i+1:]); err != nil {
			return nil, fmt.Errorf("%s.md: %s: %w", page, title, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// body reads what stands below a heading, up to the next.
func body(lines []string) (acts, paragraphs []string, err error) {
	var text []string
	fenced := false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if _, _, heads := heading(line); heads && !fenced {
			break
		}
		switch said, names := strings.CutPrefix(line, actsLine); {
		case names && i > 0:
			return nil, nil, fmt.Errorf("%q does not stand directly below the heading", line)
		case names:
			if acts, err = actors(said); err != nil {
				return nil, nil, err
			}
		default:
			text = append(text, line)
		}
	}
	for _, p := range strings.Split(strings.Join(text, "\n"), "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	return acts, paragraphs, nil
}

func actors(said string) ([]string, error) {
	acts := strings.Split(said, ", ")
	for _, who := range acts {
		if !slices.Contains(Actors, who) {
			return nil, fmt.Errorf("%q is none of %s", who, strings.Join(Actors, ", "))
		}
	}
	return acts, nil
}

func heading(line string) (level int, title string, is bool) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	title, is = strings.CutPrefix(rest, " ")
	return level, title, is && level > 0
}

// Anchor is what a link calls a heading: small letters, hyphens for spaces, and no punctuation.
func Anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// unique numbers the anchors of headings that are alike.
func unique(seen map[string]int, anchor string) string {
	n := seen[anchor]
	seen[anchor]++
	if n == 0 {
		return anchor
	}
	return fmt.Sprintf("%s-%d", anchor, n)
}
