package pool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// What no pod has is found, with how often; what is a person's, or another cluster's, is not counted at all.
func TestTheInventoryOfAPool(t *testing.T) {
	const c = entry.Cluster("0a1b2c3d")
	named := func(names ...string) (entries []fleet.Entry) {
		for _, name := range names {
			entries = append(entries, fleet.Entry{Name: name})
		}
		return entries
	}
	devices := []fleet.Device{
		{Name: "valve", Config: named(c.Of("p3"), c.Nudge(), "motd")},
		{
			Name: "pump", Applications: named("logger", c.Of("p1"), c.Of("p2"), "sc-ffffffff-p9", ""), Config: named(c.Of("p1"), c.Of("p2")), RenderedVersion: "3",
			Status: fleet.Status{ReportedVersion: "3", Applications: []fleet.Application{{Name: c.Of("p1")}, {Name: c.Of("p8")}, {Name: "sc-ffffffff-p9"}}},
		},
		{Name: "tank", Config: named(c.Nudge(), "sc-ffffffff-nudge")},
	}
	noon := time.Unix(1_700_000_000, 0)
	first := TakeInventory(c, devices, map[types.UID]string{"p1": "pump"}, nil, noon)
	want := Inventory{
		Entries: 3, Unasked: []string{"pump"}, Marked: []string{"tank"},
		Orphans: []Orphan{{"pump", c.Of("p2"), 1, noon.Unix()}, {"valve", c.Of("p3"), 1, noon.Unix()}},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
	second := TakeInventory(c, devices, map[types.UID]string{"p1": "pump", "p3": "valve"}, first.Orphans, noon.Add(time.Minute))
	if diff := cmp.Diff([]Orphan{{"pump", c.Of("p2"), 2, noon.Unix()}}, second.Orphans); diff != "" {
		t.Errorf("orphans (-want +got):\n%s", diff)
	}
	third := TakeInventory(c, devices, map[types.UID]string{"p1": "pump"}, second.Orphans, noon.Add(2*time.Minute))
	if moved := TakeInventory(c, devices, map[types.UID]string{"p1": "valve", "p2": "pump", "p3": "valve"}, nil, noon).Orphans; len(moved) != 1 || moved[0].Name != c.Of("p1") {
		t.Errorf("a second copy on another device: %+v", moved)
	}
	if leaving := TakeInventory(c, devices, map[types.UID]string{"p1": "pump", "p8": "pump"}, nil, noon); len(leaving.Unasked) != 0 {
		t.Errorf("a pod that has just been taken out looks after that itself: %v", leaving.Unasked)
	}
	if o := third.Orphans[1]; o.Looks != 1 || o.Since != noon.Add(2*time.Minute).Unix() {
		t.Errorf("what had a pod in between is looked at for the first time: %+v", o)
	}
}
