package wire

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// answers is everything that Ask asks, in the words of the server.
type answers struct {
	id, shardID, nodes    string
	info, cluster         string
	shards, role, timeout any
}

// server makes sense of the answers.
func (a answers) server() (*topology.Server, error) {
	view, self, err := ParseNodes(a.nodes)
	if err != nil {
		return nil, err
	}
	if self != a.id {
		return nil, fmt.Errorf("%w: it changed its ID while it was asked", ErrMalformed)
	}
	shards, err := ParseShards(a.shards)
	if err != nil {
		return nil, err
	}
	for i := range view {
		view[i].Shard = shards[view[i].ID]
	}
	role, err := ParseRole(a.role)
	if err != nil {
		return nil, err
	}
	timeout, err := parseSetting(a.timeout)
	if err != nil {
		return nil, err
	}
	info := ParseInfo(a.info)
	return &topology.Server{
		ID:      a.id,
		ShardID: a.shardID,
		Version: info["valkey_version"],
		Empty:   !holdsKeys(info),
		Synced:  role.Synced,
		OK:      ParseInfo(a.cluster)["cluster_state"] == "ok",
		Timeout: timeout,
		View:    view,
	}, nil
}
