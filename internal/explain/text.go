package explain

import (
	"strings"
	"unicode/utf8"
)

const (
	columns = 80 // of a terminal
	labels  = 9  // of a word and what is between it and the text
)

// wrap breaks a text into lines of at most so many characters. A word that is longer is broken, too.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		for {
			free := width - utf8.RuneCountInString(line)
			if line != "" {
				free--
			}
			n := utf8.RuneCountInString(word)
			if n <= free {
				line = strings.TrimSpace(line + " " + word)
				break
			}
			if line == "" { // it does not fit into any line
				runes := []rune(word)
				lines, word = append(lines, string(runes[:width])), string(runes[width:])
				continue
			}
			lines, line = append(lines, line), ""
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// page collects lines of at most 80 characters.
type page struct{ strings.Builder }

func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

// indented writes a text in lines that begin so many columns further to the right.
func (p *page) indented(by int, text string) {
	for _, l := range wrap(text, columns-by) {
		p.line(strings.Repeat(" ", by) + l)
	}
}

// labelled writes texts behind a word, each from a line of its own on.
func (p *page) labelled(label string, texts ...string) {
	for _, text := range texts {
		for _, l := range wrap(text, columns-labels) {
			p.line(pad(label, labels) + l)
			label = ""
		}
	}
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func cut(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:max(0, width-1)]) + "…"
	}
	return text
}

// table writes rows in columns. What does not fit is cut from the last column.
func (p *page) table(head []string, rows [][]string) {
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	shrink(widths, columns)
	for _, row := range append([][]string{head}, rows...) {
		text := ""
		for i, cell := range row {
			text += pad(cut(cell, widths[i]), widths[i]) + gap
		}
		p.line(text)
	}
}

const (
	gap       = "  "
	narrowest = 12 // that a column is made
)

// shrink makes columns narrower until all fit, the last first and then the widest.
func shrink(widths []int, room int) {
	for {
		over := len(gap)*(len(widths)-1) - room
		widest := len(widths) - 1
		for i, w := range widths {
			over += w
			if w > widths[widest] && widths[len(widths)-1] <= narrowest {
				widest = i
			}
		}
		if over <= 0 || widths[widest] <= narrowest {
			return
		}
		widths[widest]--
	}
}
