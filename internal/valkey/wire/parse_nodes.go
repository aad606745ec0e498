package wire

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ParseNodes reads CLUSTER NODES: the peers in the order of their IDs, and the ID
// of the server that answered. Shards are not part of that answer.
func ParseNodes(text string) (peers []topology.Peer, self string, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		p, myself, err := parsePeer(line)
		if err != nil {
			return nil, "", err
		}
		if myself && self != "" {
			return nil, "", fmt.Errorf("%w: two servers call themselves this one", ErrMalformed)
		}
		if myself {
			self = p.ID
		}
		peers = append(peers, p)
	}
	if self == "" {
		return nil, "", fmt.Errorf("%w: nobody calls itself this server", ErrMalformed)
	}
	slices.SortFunc(peers, func(a, b topology.Peer) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(peers); i++ {
		if peers[i].ID == peers[i-1].ID {
			return nil, "", fmt.Errorf("%w: a server is listed twice", ErrMalformed)
		}
	}
	return peers, self, nil
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
	for flag := range strings.SplitSeq(f[2], ",") {
		switch flag {
		case "myself":
			myself = true
		case "handshake":
			p.State = topology.Handshake
		case "fail?":
			p.State = worse(p.State, topology.Suspected)
		case "fail":
			p.State = worse(p.State, topology.Failed)
		case "noaddr":
			p.State = worse(p.State, topology.Unlocated)
		}
	}
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
