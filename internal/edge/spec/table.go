package spec

import (
	"slices"
	"strings"
)

// Column is what becomes of a field.
type Column string

// The columns of the table.
const (
	Honoured Column = "Honoured" // the device, or the cluster, does as the field says
	LeftOut  Column = "LeftOut"  // the pod runs without it, and says so: the API server or a default put it there
	Refused  Column = "Refused"  // the pod is not sent
)

// Row is what becomes of one field of a pod's spec, and of everything below it.
type Row struct {
	Field  string // from the spec on: containers[].ports[].hostPort
	Case   string // which values; "" is all that no earlier row has
	Column Column
	Words  string // how it is honoured, or what is missing without it, or why it is refused

	is    func(subject, leaf) bool // nil: always
	exact bool                     // it stands for the field alone, and for nothing below it
	// quiet rows are not told of a pod: another row tells the same.
	quiet bool
}

// Table is what becomes of every field. Of the rows of a field the first that applies counts; a row stands for all below it.
func Table() []Row {
	return slices.Concat(secondContainer, securityRows, containerRows, volumeRows, refusedVolumes(), podRows)
}

// secondContainer is asked before any other row of a container.
var secondContainer = []Row{
	{Field: "containers[]", Case: "a second one", Column: Refused, Words: "a pod on a device has one container", is: func(_ subject, l leaf) bool { return l.index[0] > 0 }},
}

func honoured(field, words string) Row {
	return Row{Field: field, Column: Honoured, Words: words}
}

func leftOut(field, words string) Row {
	return Row{Field: field, Column: LeftOut, Words: words}
}

func refused(field, words string) Row {
	return Row{Field: field, Column: Refused, Words: words}
}

// in limits a row to some values.
func (r Row) in(words string, is func(subject, leaf) bool) Row {
	r.Case, r.is = words, is
	return r
}

// silent is a row that is not told of a pod.
func (r Row) silent() Row {
	r.quiet = true
	return r
}

// nothing is the row of a struct that is there and empty.
func nothing(field string) Row {
	row := honoured(field, "nothing is asked for").in("empty", empty)
	row.exact = true
	return row
}

// covers says that a row stands for a field.
func (r Row) covers(path string) bool {
	if r.exact {
		return path == r.Field
	}
	rest, is := strings.CutPrefix(path, r.Field)
	return is && (rest == "" || rest[0] == '.' || rest[0] == '{')
}

// depth is how many names the field of a row has.
func (r Row) depth() int { return strings.Count(r.Field, ".") + 1 }

// Values that rows ask for.

func value(want string) func(subject, leaf) bool {
	return func(_ subject, l leaf) bool { return l.text() == want }
}

func yes(_ subject, l leaf) bool { return l.text() == "true" }

func key(names ...string) func(subject, leaf) bool {
	return func(_ subject, l leaf) bool { return slices.Contains(names, l.key) }
}

func empty(_ subject, l leaf) bool { return l.empty }
