package nodesconf

import (
	"slices"
	"strconv"
	"strings"
)

// Follow makes of the server that wrote the file, a primary, the replica of one that followed
// it, which owns its slots by now in this epoch: as it would be written if the server had heard
// of it before it ended. False is that there is no such one.
func Follow(text, primary string, epoch int64) (changed string, done bool) {
	f, err := Parse(text)
	if err != nil || f.Self.Follows != "" || !slices.ContainsFunc(f.Replicas(f.Self.ID), func(n Node) bool { return n.ID == primary }) {
		return text, false
	}
	var slots []string
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 8 && fields[0] == f.Self.ID {
			// Those in brackets were on their way: the new primary knows of them.
			slots = slices.DeleteFunc(fields[8:], func(s string) bool { return strings.HasPrefix(s, "[") })
		}
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) >= 8 {
			switch fields[0] {
			case f.Self.ID:
				line = role(fields, "master", "slave", primary, epoch) + "\n"
			case primary:
				line = strings.Join(append([]string{role(fields, "slave", "master", "-", epoch)}, slots...), " ") + "\n"
			}
		}
		out.WriteString(line)
	}
	return out.String(), true
}

// role is a line without slots in which a server has another role.
func role(fields []string, was, is, follows string, epoch int64) string {
	fields = slices.Clone(fields[:8])
	flags := strings.Split(fields[2], ",")
	if i := slices.Index(flags, was); i >= 0 {
		flags[i] = is
	}
	fields[2], fields[3], fields[6] = strings.Join(flags, ","), follows, strconv.FormatInt(epoch, 10)
	return strings.Join(fields, " ")
}
