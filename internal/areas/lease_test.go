package areas

import (
	"fmt"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

func TestLeaseOf(t *testing.T) {
	a := Area{Name: "valkey"}
	key := read.Key{Namespace: "shop", Name: "web"}
	if !a.LeaseOf("statecraft-valkey", key) || a.Lease() != "statecraft-valkey" {
		t.Error("the Lease of all objects is not that of one")
	}
	has := 0
	for i := 1; i <= 3; i++ {
		if a.LeaseOf(fmt.Sprintf("statecraft-valkey-%d-of-3", i), key) {
			has++
		}
	}
	if has != 1 {
		t.Errorf("%d of 3 shards have the object", has)
	}
	for _, other := range []string{"statecraft-capture", "statecraft-capture-1-of-1", "statecraft-valkey-4-of-3", "statecraft-valkey-restart-0"} {
		if a.LeaseOf(other, key) {
			t.Errorf("%s is taken for the area's", other)
		}
	}
}
