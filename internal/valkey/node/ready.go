package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
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
}

// Ready says in words why the server is ready, or returns why it is not. It asks for
// no more than the server's own state: servers that waited for the cluster would wait
// for each other.
func (p Probe) Ready(ctx context.Context) (string, error) {
	client, err := open(p.Addr, p.Access)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	defer client.Close()
	text, err := ask(ctx, client, "INFO", "replication", "persistence")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	info := wire.ParseInfo(text)
	if info["role"] == "master" && p.Noted != "" {
		if err := p.note(ctx, client); err != nil {
			return "", fmt.Errorf("note the epoch: %w", err)
		}
	}
	p.tellFiles(ctx, client)
	return readiness(info)
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
func readiness(info map[string]string) (string, error) {
	switch {
	case info["loading"] != "0":
		return "", fmt.Errorf("%w: it reads its data", ErrNotReady)
	case info["role"] == "master":
		return "a primary", nil
	case info["role"] != "slave":
		return "", fmt.Errorf("%w: its role is %q", ErrNotReady, info["role"])
	case info["master_link_status"] == "up":
		return "a replica in step with its primary", nil
	case info["master_sync_in_progress"] == "1":
		return "", fmt.Errorf("%w: it copies the data of its primary", ErrNotReady)
	case info["master_link_down_since_seconds"] == "-1":
		return "a replica that has not found its primary yet", nil
	}
	return "", fmt.Errorf("%w: it lost its primary %s s ago", ErrNotReady, info["master_link_down_since_seconds"])
}

// open connects to one server. It works with servers that are not able to say much: wire
// asks for everything at once.
func open(addr string, a Access) (valkey.Client, error) {
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
		ClientName:        "statecraft-valkey-node",
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
