package areas

import (
	"regexp"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Lease is the name of the one by which the managers of the area elect a leader, if they have no shards.
func (a Area) Lease() string { return kube.Shard{}.Lease(a.Name) }

var sharded = regexp.MustCompile(`-(\d+)-of-(\d+)$`)

// Elects says that a Lease of this name elects a leader of the area, or of one of its shards.
func (a Area) Elects(name string) bool {
	shard, err := a.shardOf(name)
	return err == nil && shard.Lease(a.Name) == name
}

// LeaseOf says that a Lease of this name elects the leader of the shard that has the object.
func (a Area) LeaseOf(name string, key read.Key) bool {
	shard, err := a.shardOf(name)
	return err == nil && shard.Lease(a.Name) == name && shard.Has(key)
}

func (a Area) shardOf(lease string) (kube.Shard, error) {
	m := sharded.FindStringSubmatch(lease)
	if m == nil {
		return kube.Shard{}, nil
	}
	return kube.ParseShard(m[1] + "/" + m[2])
}
