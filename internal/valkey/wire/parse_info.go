package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseInfo reads INFO and CLUSTER INFO: names and values, without the headings.
func ParseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if name, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			info[name] = value
		}
	}
	return info
}

// HoldsKeys says that some database has keys. One without keys is not listed.
func HoldsKeys(info map[string]string) bool {
	for name := range info {
		if isDatabase(name) {
			return true
		}
	}
	return false
}

func isDatabase(name string) bool { return isNumbered(name, "db") }

func isNumbered(name, prefix string) bool {
	n, ok := strings.CutPrefix(name, prefix)
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// Role is what ROLE answers.
type Role struct {
	Primary bool
	Synced  bool // a replica's link to its primary is up; a primary is
}

// ParseRole reads ROLE.
func ParseRole(answer any) (Role, error) {
	list, ok := answer.([]any)
	if !ok || len(list) == 0 {
		return Role{}, fmt.Errorf("%w: a role is no list", ErrMalformed)
	}
	switch list[0] {
	case any("master"), any("primary"):
		return Role{Primary: true, Synced: true}, nil
	case any("slave"), any("replica"):
		if len(list) < 4 {
			return Role{}, fmt.Errorf("%w: a replica's role is too short", ErrMalformed)
		}
		return Role{Synced: list[3] == any("connected")}, nil
	}
	return Role{}, fmt.Errorf("%w: %.40v is no role of a cluster", ErrMalformed, list[0])
}

// milliseconds reads a setting that is a number of them.
func milliseconds(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q is no number", ErrMalformed, value)
	}
	return n, nil
}
