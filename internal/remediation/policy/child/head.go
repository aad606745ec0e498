package child

import (
	"bytes"
	"errors"
)

// errTooLong ends a process that writes more than it may.
var errTooLong = errors.New("more than a reply may be")

// head keeps the beginning of what is written to it. A strict one refuses the rest.
//
// NOTE: the buffer is not embedded, because its ReadFrom would take everything.
type head struct {
	kept   bytes.Buffer
	most   int
	strict bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.most - h.kept.Len()
	if len(p) <= room {
		return h.kept.Write(p)
	}
	if h.strict {
		return 0, errTooLong
	}
	h.kept.Write(p[:room])
	return len(p), nil
}
