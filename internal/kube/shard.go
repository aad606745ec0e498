package kube

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Shard is one of Count equal parts of an area's objects, by a stable hash of
// namespace/name. The zero value is the whole.
type Shard struct{ Index, Count int }

// ParseShard reads "index/count", counted from 1, such as "1/1".
func ParseShard(s string) (Shard, error) {
	index, count, _ := strings.Cut(s, "/")
	i, indexErr := strconv.ParseUint(index, 10, 16)
	n, countErr := strconv.ParseUint(count, 10, 16)
	if indexErr != nil || countErr != nil || i < 1 || i > n {
		return Shard{}, fmt.Errorf("parse shard %q: want index/count, such as 1/1", s)
	}
	return Shard{Index: int(i) - 1, Count: int(n)}, nil
}

// String is how ParseShard reads it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index+1, max(s.Count, 1)) }

// Has says that the object belongs to this shard.
func (s Shard) Has(key read.Key) bool {
	if s.Count <= 1 {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(key.Namespace + "/" + key.Name))
	return int(h.Sum32()%uint32(s.Count)) == s.Index
}

func (s Shard) has(obj client.Object) bool { return s.Has(keyOf(obj)) }

// Lease is the name of the election Lease of an area's shard.
func (s Shard) Lease(area string) string {
	if s.Count <= 1 {
		return "statecraft-" + area
	}
	return fmt.Sprintf("statecraft-%s-%d-of-%d", area, s.Index+1, s.Count)
}
