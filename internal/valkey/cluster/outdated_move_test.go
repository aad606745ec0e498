package cluster

import (
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Whether slots are still wanted where they are being moved to.
func TestMoveIsOutdated(t *testing.T) {
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
		if turned := MoveIsOutdated(sized(newCluster(), c.wanted), MoveSlots{c.to, at}); turned != c.turned {
			t.Errorf("%s: %v", name, turned)
		}
	}
}

// What takes minutes says until when, by the pace so far.
func TestMovesAreEstimated(t *testing.T) {
	since := time.Date(2026, 1, 2, 10, 0, 30, 0, time.UTC)
	for name, c := range map[string]struct {
		after time.Duration
		plan  *valkeyv1.ClusterPlan
		left  int
		want  string
	}{
		"half of it":                {10 * time.Minute, &valkeyv1.ClusterPlan{Slots: 8192, Bytes: 8 << 30}, 4096, ", about 4096 MiB, which takes at most 10m0s at this pace"},
		"a quarter":                 {10 * time.Minute, &valkeyv1.ClusterPlan{Slots: 8192, Bytes: 8 << 30}, 6144, ", about 6144 MiB, which takes at most 30m0s at this pace"},
		"a year":                    {1000 * time.Hour, &valkeyv1.ClusterPlan{Slots: 8192, Bytes: 8 << 30}, 8191, ", about 8192 MiB, which takes more than a week at this pace"},
		"a little more than a step": {10*time.Minute + time.Second, &valkeyv1.ClusterPlan{Slots: 8192, Bytes: 8 << 30}, 4096, ", about 4096 MiB, which takes at most 20m0s at this pace"},
		"moments":                   {30 * time.Second, &valkeyv1.ClusterPlan{Slots: 8192}, 4096, ""},
		"nothing so far":            {10 * time.Minute, &valkeyv1.ClusterPlan{Slots: 8192}, 8192, ""},
		"no plan":                   {10 * time.Minute, nil, 4096, ""},
	} {
		o := newCluster()
		o.Status.Plan, o.Status.Since.Time = c.plan, since
		if got := estimate(input{Obj: o, Now: since.Add(c.after)}, c.left); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
