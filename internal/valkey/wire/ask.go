package wire

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// answers is everything that Ask asks, in the words of the server.
type answers struct {
	id, shardID, nodes string
	info, cluster      string
	shards, role       any
	settings           map[string]string
}

// server makes sense of the answers.
func (a answers) server() (*topology.Server, error) {
	nodes, err := ParseNodes(a.nodes)
	if err != nil {
		return nil, err
	}
	if nodes.Self != a.id {
		return nil, fmt.Errorf("%w: it changed its ID while it was asked", ErrMalformed)
	}
	shards, err := ParseShards(a.shards)
	if err != nil {
		return nil, err
	}
	for i := range nodes.Peers {
		nodes.Peers[i].Shard = shards[nodes.Peers[i].ID]
	}
	role, err := ParseRole(a.role)
	if err != nil {
		return nil, err
	}
	timeout, err := milliseconds(a.settings[nodeTimeout])
	if err != nil {
		return nil, err
	}
	info, cluster := ParseInfo(a.info), ParseInfo(a.cluster)
	return &topology.Server{
		ID:          a.id,
		Mark:        a.settings[podMark],
		ShardID:     a.shardID,
		Version:     info["valkey_version"],
		Empty:       !HoldsKeys(info),
		Synced:      role.Synced,
		OK:          cluster["cluster_state"] == "ok",
		Timeout:     timeout,
		Epoch:       number(cluster["cluster_current_epoch"]),
		History:     info["master_replid"],
		Loading:     info["loading"] == "1" || info["async_loading"] == "1",
		CannotWrite: info["aof_enabled"] == "1" && info["aof_last_write_status"] == "err",
		Syncing:     info["master_sync_in_progress"] == "1",
		MemoryLimit: number(info["maxmemory"]),
		Attached:    attached(info),
		Open:        nodes.Open,
		View:        nodes.Peers,
		Gauges:      gauges(info, role),
	}, nil
}
