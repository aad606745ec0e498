package cluster

import (
	"slices"
	"strconv"
	"strings"
)

// SameSetting says that a server has a setting as it is wanted. Servers answer in their own
// words: sizes in bytes, flags in an order of theirs.
func SameSetting(name, wanted, is string) bool {
	if strings.EqualFold(strings.Join(strings.Fields(wanted), " "), strings.Join(strings.Fields(is), " ")) {
		return true
	}
	if name == "notify-keyspace-events" {
		return events(wanted) == events(is)
	}
	a, sizeA := size(wanted)
	b, sizeB := size(is)
	return sizeA && sizeB && a == b
}

// units are those of sizes: with a b they are powers of two.
var units = []struct {
	name  string
	bytes int64
}{{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1}, {"", 1}}

func size(text string) (bytes int64, is bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, u := range units {
		if digits, ends := strings.CutSuffix(text, u.name); ends {
			n, err := strconv.ParseInt(digits, 10, 64)
			return n * u.bytes, err == nil
		}
	}
	return 0, false
}

// allEvents is what A stands for.
const allEvents = "g$lshzxetd"

// events are classes of events, in one order and each once.
func events(flags string) string {
	list := []rune(strings.Trim(strings.ReplaceAll(flags, "A", allEvents), `"`))
	slices.Sort(list)
	return string(slices.Compact(list))
}
