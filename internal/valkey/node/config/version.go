package config

import (
	"fmt"
	"strings"
)

// Version finds the version in what a server prints when asked for it, as in
// "Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64".
func Version(printed string) (string, error) {
	for word := range strings.FieldsSeq(printed) {
		version, is := strings.CutPrefix(word, "v=")
		if is && version != "" && version[0] >= '0' && version[0] <= '9' {
			return version, nil
		}
	}
	return "", fmt.Errorf("%w: no version in %.80q", ErrMalformed, printed)
}
