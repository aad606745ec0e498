package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// ErrNotReady says that the server should get no work.
var ErrNotReady = errors.New("not ready")

// answerWithin is how long a server may take for one answer.
const answerWithin = time.Second

// Probe asks one server how it is.
type Probe struct {
	Addr   string
	Access Access
	// Noted is a file for since when the server is a primary; "" is not to note it.
	Noted string
	// Held is a file that is there while the server has keys; "" is not to note it.
	Held string
	// Formed is a file that exists once the cluster was formed; "" is that it never was.
	Formed string
}

// Ready says in words why the server is ready, or returns why it is not. It asks for
// no more than the server's own state: servers that waited for the cluster would wait
// for each other.
//
// NOTE: Kubernetes evicts one ready pod while another is not. A server of a formed cluster
// without a copy of its shard is therefore not ready, whether or not a manager runs: the
// pod that is evicted next may have the only one.
func (p Probe) Ready(ctx context.Context) (string, error) {
	client, err := open(p.Addr, p.Access, "statecraft-valkey-node")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	defer client.Close()
	text, err := ask(ctx, client, "INFO", "replication", "persistence", "keyspace")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	info := wire.ParseInfo(text)
	if info["role"] == "master" && p.Noted != "" {
		if err := p.note(ctx, client); err != nil {
			return "", fmt.Errorf("note the epoch: %w", err)
		}
	}
	if err := noteHeld(p.Held, info); err != nil {
		return "", fmt.Errorf("note that there are keys: %w", err)
	}
	p.tellFiles(ctx, client)
	own, err := p.standing(ctx, client, info)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	return readiness(info, own)
}

// standing is what a server has in the cluster.
type standing struct {
	formed bool // the cluster once held all slots
	slots  bool // the server owns some of them, if it is a primary
}

func (p Probe) standing(ctx context.Context, client valkey.Client, info map[string]string) (own standing, err error) {
	own.formed = exists(p.Formed)
	if !own.formed || info["role"] != "master" {
		return own, nil
	}
	text, err := ask(ctx, client, "CLUSTER", "NODES")
	if err != nil {
		return own, err
	}
	nodes, err := wire.ParseNodes(text)
	if err != nil {
		return own, err
	}
	own.slots = slices.ContainsFunc(nodes.Peers, func(n topology.Peer) bool { return n.ID == nodes.Self && n.Slots != "" })
	return own, nil
}

// tellFiles leaves at the server which passwords the files of this pod hold: the operator
// cannot look into pods, and must not drop a password that is still the newest in one. That
// it could not be left is seen there, too, and is no reason to get no work.
func (p Probe) tellFiles(ctx context.Context, client valkey.Client) {
	if p.Access.UsersDir == "" {
		return
	}
	files, err := userFiles(p.Access.UsersDir)
	if err != nil {
		return
	}
	if own, err := access.ParseOwn(files); err == nil {
		_, _ = ask(ctx, client, "ACL", "SETUSER", access.Files, "reset", "#"+string(own.Newest()))
	}
}

func (p Probe) note(ctx context.Context, client valkey.Client) error {
	text, err := ask(ctx, client, "CLUSTER", "INFO")
	if err != nil {
		return err
	}
	epoch, err := myEpoch(text)
	if err != nil {
		return err
	}
	return note(p.Noted, epoch)
}

// readiness judges by what the server says of itself.
func readiness(info map[string]string, own standing) (string, error) {
	switch {
	case info["loading"] != "0":
		return "", fmt.Errorf("%w: it reads its data", ErrNotReady)
	case info["role"] == "master" && own.formed && !own.slots:
		return "", fmt.Errorf("%w: it owns no slots, and the manager has not made it a replica yet", ErrNotReady)
	case info["role"] == "master":
		return "a primary", nil
	case info["role"] != "slave":
		return "", fmt.Errorf("%w: its role is %q", ErrNotReady, info["role"])
	case info["master_link_status"] == "up":
		return "a replica in step with its primary", nil
	case info["master_sync_in_progress"] == "1":
		return "", fmt.Errorf("%w: it copies the data of its primary", ErrNotReady)
	case info["master_link_down_since_seconds"] == "-1" && own.formed:
		return "", fmt.Errorf("%w: it has not found its primary yet, and has no copy", ErrNotReady)
	case info["master_link_down_since_seconds"] == "-1":
		return "a replica that has not found its primary yet", nil
	}
	return "", fmt.Errorf("%w: it lost its primary %s s ago", ErrNotReady, info["master_link_down_since_seconds"])
}

// open connects to one server, under a name. It works with servers that are not able to say much: wire
// asks for everything at once.
func open(addr string, a Access, name string) (valkey.Client, error) {
	access, err := a.wire()
	if err != nil {
		return nil, err
	}
	client, err := valkey.NewClient(access.Apply(valkey.ClientOption{
		InitAddress:       []string{addr},
		Dialer:            net.Dialer{Timeout: answerWithin},
		ForceSingleClient: true,
		AlwaysRESP2:       true,
		DisableRetry:      true,
		DisableCache:      true,
		ConnWriteTimeout:  answerWithin,
		ClientName:        name,
		ClientSetInfo:     valkey.DisableClientSetInfo,
	}))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return client, nil
}

// ask sends one command to a server and returns its answer as text.
func ask(ctx context.Context, client valkey.Client, command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	text, err := client.Do(ctx, client.B().Arbitrary(command...).Build()).ToString()
	if err != nil {
		return "", fmt.Errorf("send %s: %w", command[0], err)
	}
	return text, nil
}
