package process

import (
	"bytes"
	"io"
	"os"
)

// tailBytes is enough for the last words of a server and short enough to read.
const tailBytes = 4 << 10

// Tail returns the last lines of a log, or why it cannot.
func Tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err.Error()
	}
	if _, err := file.Seek(max(0, size-tailBytes), io.SeekStart); err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	if size > tailBytes {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return string(text)
}
