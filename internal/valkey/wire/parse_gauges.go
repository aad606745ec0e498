package wire

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// gauges reads what moves all the time out of INFO.
func gauges(info map[string]string, role Role) topology.Gauges {
	g := topology.Gauges{
		Offset:   number(info["master_repl_offset"]),
		LinkDown: number(info["master_link_down_since_seconds"]),
		Memory:   number(info["used_memory"]),
		Dataset:  number(info["used_memory_dataset"]),
	}
	if !role.Primary {
		// What it has applied decides elections; the other number is what it has passed on.
		g.Offset, g.PrimaryOffset = number(info["slave_repl_offset"]), number(info["slave_read_repl_offset"])
	}
	for name, value := range info {
		if isDatabase(name) {
			g.Keys += number(pair(value, "keys"))
		}
	}
	return g
}

// attached reads who replicates from the server:
//
//	slave0:ip=10.0.0.2,port=6379,state=online,offset=14,lag=0
func attached(info map[string]string) (list []topology.Attached) {
	for name, value := range info {
		if isNumbered(name, "slave") {
			list = append(list, topology.Attached{
				Addr:   net.JoinHostPort(pair(value, "ip"), pair(value, "port")),
				Online: pair(value, "state") == "online",
			})
		}
	}
	slices.SortFunc(list, func(a, b topology.Attached) int { return strings.Compare(a.Addr, b.Addr) })
	return list
}

// pair finds a value in a=1,b=2.
func pair(text, name string) string {
	for part := range strings.SplitSeq(text, ",") {
		if value, ok := strings.CutPrefix(part, name+"="); ok {
			return value
		}
	}
	return ""
}

// number reads what a server counts; what it does not say is 0.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
