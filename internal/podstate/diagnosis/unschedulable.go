package diagnosis

import (
	"regexp"
	"slices"
	"strings"
)

// What a scheduler says of nodes: how many have which fault, and then whether other pods could make room.
var (
	faults = regexp.MustCompile(`^\d+/\d+ nodes are available: (.*?)(\. |\.?$)`)
	count  = regexp.MustCompile(`^\d+ `)
)

// doubts are the faults that a scheduler finds in nodes, to follow other words. How many nodes have which changes with
// every node that comes and goes, and is left out.
func doubts(said string) string {
	found := faults.FindStringSubmatch(said)
	if found == nil {
		return ""
	}
	each := strings.Split(found[1], ", ")
	for i := range each {
		each[i] = count.ReplaceAllString(each[i], "")
	}
	slices.Sort(each)
	return ": " + quote(strings.Join(slices.Compact(each), ", "))
}
