package kube

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

func TestEveryObjectBelongsToExactlyOneShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9-]{0,20}`)
		key := read.Key{Namespace: name.Draw(t, "namespace"), Name: name.Draw(t, "name")}
		count := rapid.IntRange(1, 64).Draw(t, "count")
		has := 0
		for i := range count {
			if (Shard{Index: i, Count: count}).Has(key) {
				has++
			}
		}
		if has != 1 {
			t.Fatalf("%s belongs to %d of %d shards", key, has, count)
		}
	})
}

func TestShardsAreOfSimilarSize(t *testing.T) {
	const count, objects = 8, 8000
	sizes := make([]int, count)
	for n := range objects {
		for i := range count {
			if (Shard{Index: i, Count: count}).Has(read.Key{Namespace: "shop", Name: "cluster-" + strconv.Itoa(n)}) {
				sizes[i]++
			}
		}
	}
	for i, size := range sizes {
		if size < objects/count/2 || size > objects/count*2 {
			t.Errorf("shard %d has %d of %d objects", i, size, objects)
		}
	}
}

func TestParseShard(t *testing.T) {
	for s, want := range map[string]Shard{"1/1": {0, 1}, "2/3": {1, 3}, "3/3": {2, 3}} {
		if got, err := ParseShard(s); err != nil || got != want {
			t.Errorf("%q is %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "1", "0/1", "2/1", "-1/2", "1/0", "a/b", "1/2x", "1/2/3", " 1/2", "1 / 2", "+1/2"} {
		if got, err := ParseShard(s); err == nil {
			t.Errorf("%q is taken for %+v", s, got)
		}
	}
}

func TestEveryShardElectsItsOwnLeader(t *testing.T) {
	for want, s := range map[string]Shard{
		"statecraft-valkey": {}, "statecraft-valkey-1-of-2": {0, 2}, "statecraft-valkey-2-of-2": {1, 2},
	} {
		if got := s.Lease("valkey"); got != want {
			t.Errorf("%+v elects by %s", s, got)
		}
	}
}
