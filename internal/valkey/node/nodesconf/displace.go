package nodesconf

import "strings"

// Displace takes the address from every other server that is written down at addr,
// which is about to be this server's own, and returns their IDs. They tell it
// themselves where they are now.
//
// NOTE: otherwise the server connects to itself in their place, and what it said
// before it learned its new role comes back to it as news: it is a primary and a
// replica at once then, and stays so.
func Displace(text, addr string) (displaced string, changed []string) {
	f, err := Parse(text)
	if err != nil || addr == "" {
		return text, nil
	}
	at := map[string]bool{}
	for _, p := range f.Peers {
		at[p.ID] = p.Addr == addr
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 && at[fields[0]] {
			_, aux, _ := strings.Cut(fields[1], ",")
			line = strings.Replace(line, fields[1], ":0@0,"+aux, 1)
			line = strings.Replace(line, " "+fields[2]+" ", " "+fields[2]+",noaddr ", 1)
			changed = append(changed, fields[0])
		}
		out.WriteString(line)
	}
	return out.String(), changed
}
