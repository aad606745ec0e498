package cluster

import "testing"

// Whether slots are still wanted where they are being moved to.
func TestTurned(t *testing.T) {
	for name, c := range map[string]struct {
		is     Shape
		to     int
		wanted Shape
		turned bool
	}{
		"spread, as is wanted":                       {Even(6, 1), 6, Even(6, 1), false},
		"spread, and fewer are wanted":               {Even(6, 1), 6, Even(3, 1), true},
		"spread, and more are wanted":                {Even(6, 1), 6, Even(7, 1), false},
		"spread, and fewer with more replicas":       {Even(6, 1), 6, Even(3, 2), false},
		"gathered, as is wanted":                     {Even(6, 1), 3, Even(3, 1), false},
		"gathered, and all are wanted back":          {Even(6, 1), 3, Even(6, 1), true},
		"gathered, and more than that are to stay":   {Even(6, 1), 3, Even(4, 1), true},
		"gathered, and fewer than that are to stay":  {Even(6, 1), 4, Even(3, 1), true},
		"gathered, as is wanted, with less replicas": {Even(6, 1), 3, Even(3, 0), false},
	} {
		var at []Place
		for shard, replicas := range c.is {
			for range 1 + replicas {
				at = append(at, Place{Shard: shard})
			}
		}
		if turned := Turned(sized(newCluster(), c.wanted), MoveSlots{c.to, at}); turned != c.turned {
			t.Errorf("%s: %v", name, turned)
		}
	}
}
