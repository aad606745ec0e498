package valkeywire

import (
	"os"
	"strings"
)

// lateEpoch is above all that a script comes to.
const lateEpoch = "99"

// mistakeForPrimary makes a replica a primary in what a server has written down, as if a message from the time when it was one
// had come last: in an epoch of its own, and in the shard that it has joined since.
func mistakeForPrimary(file, id string) error {
	text, err := os.ReadFile(file) //nolint:gosec // of this test
	if err != nil {
		return err
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case f[0] == id:
			f[2], f[3], f[6] = "master", "-", lateEpoch
		case f[0] == "vars":
			f[2] = lateEpoch
		}
		out = append(out, strings.Join(f, " "))
	}
	return os.WriteFile(file, []byte(strings.Join(out, "\n")+"\n"), 0o600)
}
