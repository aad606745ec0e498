package fsmtest

import (
	"github.com/cockroachdb/datadriven"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Command runs one command of a transcript.
func Command[T fsm.Subject[T], W any](b Bench[T, W], d *datadriven.TestData) (string, error) {
	tr := &transcript[T, W]{sim: b.sim()}
	tr.trace, tr.again = tr.print, fsm.Never
	return tr.command(d)
}
