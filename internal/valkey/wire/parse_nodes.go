package wire

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// Nodes is what CLUSTER NODES answers.
type Nodes struct {
	Self  string          // ID of the server that answered
	Peers []topology.Peer // in the order of their IDs, without shards, of which it does not speak
	Open  []topology.OpenSlot
}

// ParseNodes reads CLUSTER NODES.
func ParseNodes(text string) (n Nodes, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		p, myself, err := parsePeer(line)
		if err != nil {
			return Nodes{}, err
		}
		n.Peers = append(n.Peers, p)
		if !myself {
			continue
		}
		if n.Self != "" {
			return Nodes{}, fmt.Errorf("%w: two servers call themselves this one", ErrMalformed)
		}
		n.Self = p.ID
		if n.Open, err = parseOpen(strings.Fields(line)[8:]); err != nil {
			return Nodes{}, err
		}
	}
	if n.Self == "" {
		return Nodes{}, fmt.Errorf("%w: nobody calls itself this server", ErrMalformed)
	}
	slices.SortFunc(n.Peers, func(a, b topology.Peer) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(n.Peers); i++ {
		if n.Peers[i].ID == n.Peers[i-1].ID {
			return Nodes{}, fmt.Errorf("%w: a server is listed twice", ErrMalformed)
		}
	}
	return n, nil
}

// parsePeer reads one line:
//
//	id ip:port@busport[,hostname] flags primary ping pong epoch link slot...
func parsePeer(line string) (p topology.Peer, myself bool, err error) {
	f := strings.Fields(line)
	if len(f) < 8 || !isID(f[0]) {
		return p, false, fmt.Errorf("%w: %.80q is no line of CLUSTER NODES", ErrMalformed, line)
	}
	p.ID, p.Addr, p.Linked = f[0], clientAddr(f[1]), f[7] == "connected"
	if p.Epoch, err = strconv.ParseInt(f[6], 10, 64); err != nil || p.Epoch < 0 {
		return p, false, fmt.Errorf("%w: %.40q is no epoch", ErrMalformed, f[6])
	}
	p.State, myself = parseFlags(f[2])
	if f[3] != "-" {
		if !isID(f[3]) {
			return p, false, fmt.Errorf("%w: %.80q is no ID", ErrMalformed, f[3])
		}
		p.Follows = f[3]
	}
	// A slot in brackets is one that is moving, and not an owned one.
	owned := slices.DeleteFunc(f[8:], func(s string) bool { return strings.HasPrefix(s, "[") })
	if p.Slots, err = topology.ParseSlots(strings.Join(owned, " ")); err != nil {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return p, myself, err
}

func parseFlags(flags string) (state topology.State, myself bool) {
	for flag := range strings.SplitSeq(flags, ",") {
		switch flag {
		case "myself":
			myself = true
		case "handshake":
			state = topology.Handshake
		case "fail?":
			state = worse(state, topology.Suspected)
		case "fail":
			state = worse(state, topology.Failed)
		case "noaddr":
			state = worse(state, topology.Unlocated)
		}
	}
	return state, myself
}

// parseOpen reads the slots in brackets: [93->-id] goes, [93-<-id] comes.
func parseOpen(fields []string) (open []topology.OpenSlot, err error) {
	for _, f := range fields {
		inner, bracketed := strings.CutPrefix(f, "[")
		if !bracketed {
			continue
		}
		inner, closed := strings.CutSuffix(inner, "]")
		number, peer, goes := strings.Cut(inner, "->-")
		if !goes {
			number, peer, _ = strings.Cut(inner, "-<-")
		}
		slot, err := strconv.ParseUint(number, 10, 16)
		if err != nil || !closed || slot >= topology.TotalSlots || !isID(peer) {
			return nil, fmt.Errorf("%w: %.80q is no open slot", ErrMalformed, f)
		}
		open = append(open, topology.OpenSlot{Slot: int(slot), Importing: !goes, Peer: peer})
	}
	slices.SortFunc(open, func(a, b topology.OpenSlot) int {
		return cmp.Or(a.Slot-b.Slot, strings.Compare(a.Peer, b.Peer))
	})
	return open, nil
}

// worse keeps a handshake, which says more than any judgement on it.
func worse(is, than topology.State) topology.State {
	if is == topology.Handshake {
		return is
	}
	return than
}

// clientAddr is host:port out of ip:port@busport,hostname; "" if the host is not known.
func clientAddr(text string) string {
	text, _, _ = strings.Cut(text, ",")
	text, _, _ = strings.Cut(text, "@")
	i := strings.LastIndexByte(text, ':')
	if i <= 0 {
		return ""
	}
	return net.JoinHostPort(strings.Trim(text[:i], "[]"), text[i+1:])
}

func isID(text string) bool {
	if len(text) != 40 {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}
