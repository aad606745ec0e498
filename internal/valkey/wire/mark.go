package wire

import (
	"fmt"
	"io"
	"strings"
)

// verifyMark asks a server whose pod it was started in.
func verifyMark(conn io.ReadWriter, mark string) error {
	const lines = 5 // of the answer: how many words, and of either word the length and the word
	reply, err := exchange(conn, "CONFIG", "GET", podMark)
	if err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(reply, "-"):
		return refusal(reply[1:])
	case reply == "*0": // it does not know the setting
		return fmt.Errorf("%w: it bears no mark, and not %s", ErrOtherServer, mark)
	case reply != "*2":
		return fmt.Errorf("%w: %.40q", ErrMalformed, reply)
	}
	for range lines - 1 {
		if reply, err = readLine(conn); err != nil {
			return err
		}
	}
	if reply != mark {
		return fmt.Errorf("%w: it bears %q, and not %s", ErrOtherServer, reply, mark)
	}
	return nil
}
