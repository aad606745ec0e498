package nodesconf

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ErrUnloadable says that a server would not start with the file.
var ErrUnloadable = errors.New("nodes.conf cannot be loaded")

// File is what a server wrote before it ended.
type File struct {
	Self  Node
	Peers []Node // everyone else, in the order of the file
}

// Node is one server in it.
type Node struct {
	ID   string
	Addr string // host:port for clients; "" if it was not known
	// Follows is the ID of the primary that it replicates; "" is a primary.
	Follows string
	Epoch   int64
	Slots   topology.Slots
	Shard   string // its shard-id; "" in files of servers that knew none
}

// Replicas lists who followed the one called id.
func (f File) Replicas(id string) []Node {
	return slices.DeleteFunc(slices.Clone(f.Peers), func(n Node) bool { return n.Follows != id })
}

// Parse reads a file. It refuses what the server itself would refuse: a blank line
// is nothing, a line that is cut off is the end.
func Parse(text string) (File, error) {
	var f File
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.EqualFold(fields[0], "vars") {
			continue
		}
		n, myself, err := parseNode(fields)
		switch {
		case err != nil:
			return File{}, err
		case seen[n.ID]:
			return File{}, fmt.Errorf("%w: %s is listed twice", ErrUnloadable, n.ID)
		case myself && f.Self.ID != "":
			return File{}, fmt.Errorf("%w: two call themselves this server", ErrUnloadable)
		case myself:
			f.Self = n
		default:
			f.Peers = append(f.Peers, n)
		}
		seen[n.ID] = true
	}
	if f.Self.ID == "" {
		return File{}, fmt.Errorf("%w: nobody calls itself this server", ErrUnloadable)
	}
	return f, nil
}

// parseNode reads one line:
//
//	id ip:port@busport,hostname,name=value,... flags primary ping pong epoch link slot...
func parseNode(fields []string) (n Node, myself bool, err error) {
	if len(fields) < 8 || !isID(fields[0]) {
		return n, false, fmt.Errorf("%w: %.60q is no line of it", ErrUnloadable, strings.Join(fields, " "))
	}
	n.ID = fields[0]
	address, rest, _ := strings.Cut(fields[1], ",")
	if n.Addr, err = clientAddr(address); err != nil {
		return n, false, err
	}
	for aux := range strings.SplitSeq(rest, ",") {
		id, is := strings.CutPrefix(aux, shardField)
		if is && !isID(id) {
			return n, false, fmt.Errorf("%w: %.60q is no shard", ErrUnloadable, id)
		}
		if is {
			n.Shard = id
		}
	}
	myself = slices.Contains(strings.Split(fields[2], ","), "myself")
	if fields[3] != "-" {
		if !isID(fields[3]) {
			return n, false, fmt.Errorf("%w: %.60q is no ID", ErrUnloadable, fields[3])
		}
		n.Follows = fields[3]
	}
	if n.Epoch, err = strconv.ParseInt(fields[6], 10, 64); err != nil {
		return n, false, fmt.Errorf("%w: %.60q is no epoch", ErrUnloadable, fields[6])
	}
	// A slot in brackets is one that is moving, and not an owned one.
	owned := slices.DeleteFunc(slices.Clone(fields[8:]), func(s string) bool { return strings.HasPrefix(s, "[") })
	if n.Slots, err = topology.ParseSlots(strings.Join(owned, " ")); err != nil {
		err = fmt.Errorf("%w: %w", ErrUnloadable, err)
	}
	return n, myself, err
}

// clientAddr is host:port out of ip:port@busport; "" if the host is not known.
func clientAddr(text string) (string, error) {
	text, _, _ = strings.Cut(text, "@")
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return "", fmt.Errorf("%w: %.60q is no address", ErrUnloadable, text)
	}
	if i == 0 {
		return "", nil
	}
	return net.JoinHostPort(strings.Trim(text[:i], "[]"), text[i+1:]), nil
}

func isID(text string) bool {
	return len(text) == 40 && strings.Trim(text, "0123456789abcdef") == ""
}
