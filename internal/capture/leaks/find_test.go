package leaks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

func agoRef(d time.Duration) *time.Time { t := ago(d); return &t }

const old = 24 * time.Hour

// whole is a cluster in which everything is as it should be.
func whole() Inventory {
	keptBy := []types.UID{"k1"}
	return Inventory{
		Requests: []Request{
			{Kind: "VolumeCaptureRequest", Namespace: "shop", Name: "data", UID: "r1", Ready: "True", Created: ago(old)},
			{Kind: "VolumeRestoreRequest", Namespace: "shop", Name: "again", UID: "r2", Created: ago(old)},
		},
		Keepers: []Keeper{
			{Name: "request-r1", UID: "k1", Follows: "r1", Kind: "VolumeCaptureRequest", Created: ago(old)},
			{Name: "request-r9", UID: "k9", Follows: "r9", Kind: "VolumeCaptureRequest", Created: ago(old), Expires: agoRef(-time.Hour)},
			{Name: "mine", UID: "k3", Follows: "c1", Kind: "ConfigMap", Created: ago(old)},
			{Name: "until", UID: "k4", Created: ago(old)},
		},
		Artifacts: []Artifact{
			{Kind: Content, Name: "capture-r1", Request: "r1", Keepers: keptBy, Created: ago(old), Handle: "s1"},
			{Kind: Checkpoint, Name: "r1", Request: "r1", Keepers: keptBy, Created: ago(old), Lists: []string{"r1-0-a"}},
			{Kind: Chunk, Name: "r1-0-a", Request: "r1", Keepers: keptBy, Created: ago(old)},
			{Kind: Holder, Namespace: "statecraft-system", Name: "detached-r1", Request: "r1", Keepers: keptBy, Created: ago(old)},
			{Kind: Volume, Name: "pv-1", Request: "r1", Created: ago(old)},
			{Kind: Intent, Namespace: "csi", Name: "restore-r2", Request: "r2", Created: ago(old)},
		},
		Stored:  []Stored{{Handle: Handle{"disks", true, "s1"}}},
		Handles: map[Handle]bool{{"disks", true, "s1"}: true},
	}
}

func TestNothingLeaksInAWholeCluster(t *testing.T) {
	if found := Find(whole(), now, Patience); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	if found := Find(Inventory{}, now, Patience); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

func TestFind(t *testing.T) {
	at := func(inv *Inventory, kind Kind) *Artifact {
		for i := range inv.Artifacts {
			if inv.Artifacts[i].Kind == kind {
				return &inv.Artifacts[i]
			}
		}
		return nil
	}
	noKeeper := func(kind Kind) func(*Inventory) {
		return func(i *Inventory) { at(i, kind).Keepers = []types.UID{"gone"} }
	}
	type change func(*Inventory)
	for name, tc := range map[string]struct {
		change change
		want   []string
	}{
		"a content whose keeper is gone":             {noKeeper(Content), []string{"VolumeSnapshotContent capture-r1 NoKeeper"}},
		"a checkpoint whose keeper is gone":          {noKeeper(Checkpoint), []string{"ManifestCheckpoint r1 NoKeeper"}},
		"a chunk whose keeper is gone":               {noKeeper(Chunk), []string{"ManifestCheckpointContentChunk r1-0-a NoKeeper"}},
		"a holder whose keeper is gone":              {noKeeper(Holder), []string{"PersistentVolumeClaim detached-r1 NoKeeper"}},
		"one that nobody owns at all":                {func(i *Inventory) { at(i, Content).Keepers = nil }, []string{"VolumeSnapshotContent capture-r1 NoKeeper"}},
		"one that somebody else adopted":             {func(i *Inventory) { at(i, Content).Keepers, at(i, Content).Adopted = nil, true }, nil},
		"one of two keepers is enough":               {func(i *Inventory) { at(i, Content).Keepers = []types.UID{"gone", "k3"} }, nil},
		"one that is being made":                     {func(i *Inventory) { at(i, Content).Keepers, at(i, Content).Created = nil, ago(time.Minute) }, nil},
		"one that is being deleted":                  {func(i *Inventory) { at(i, Content).Keepers, at(i, Content).Deleted = nil, agoRef(time.Minute) }, nil},
		"a deletion that does not end":               {func(i *Inventory) { at(i, Content).Deleted = agoRef(2 * time.Hour) }, []string{"VolumeSnapshotContent capture-r1 Stuck"}},
		"a deletion of a keeper that does not end":   {func(i *Inventory) { i.Keepers[0].Deleted = agoRef(2 * time.Hour) }, []string{"ObjectKeeper request-r1 Stuck"}},
		"a keeper whose request is gone":             {func(i *Inventory) { i.Keepers[0].Follows = "gone" }, []string{"ObjectKeeper request-r1 NoRequest"}},
		"a young keeper":                             {func(i *Inventory) { i.Keepers[0].Follows, i.Keepers[0].Created = "gone", ago(time.Minute) }, nil},
		"a keeper that has outlived its retention":   {func(i *Inventory) { i.Keepers[1].Expires = agoRef(time.Hour) }, []string{"ObjectKeeper request-r9 NoRequest"}},
		"a keeper that is about to go":               {func(i *Inventory) { i.Keepers[1].Expires = agoRef(time.Minute) }, nil},
		"a chunk that no checkpoint lists":           {func(i *Inventory) { at(i, Checkpoint).Lists = nil }, []string{"ManifestCheckpointContentChunk r1-0-a NotListed"}},
		"a chunk of a capture that is being made":    {func(i *Inventory) { at(i, Checkpoint).Lists, i.Requests[0].Ready = nil, "" }, nil},
		"a detached volume without its holder":       {func(i *Inventory) { at(i, Holder).Request = "other" }, []string{"PersistentVolume pv-1 NoHolder"}},
		"a detached volume that was restored":        {func(i *Inventory) { at(i, Holder).Request, at(i, Volume).Bound = "other", true }, nil},
		"a volume that is being detached":            {func(i *Inventory) { at(i, Holder).Request, i.Requests[0].Ready = "other", "" }, nil},
		"an intent whose restore has ended":          {func(i *Inventory) { i.Requests[1].Ready = "False" }, []string{"ConfigMap restore-r2 Unresolved"}},
		"an intent whose restore is gone":            {func(i *Inventory) { at(i, Intent).Request = "gone" }, []string{"ConfigMap restore-r2 Unresolved"}},
		"a snapshot that no object names":            {func(i *Inventory) { i.Handles = nil }, []string{"VolumeSnapshotContent s1 NoObject"}},
		"a volume of that name does not count":       {func(i *Inventory) { i.Handles = map[Handle]bool{{"disks", false, "s1"}: true} }, []string{"VolumeSnapshotContent s1 NoObject"}},
		"a volume that no object names":              {func(i *Inventory) { i.Stored[0].Snapshot = false }, []string{"PersistentVolume s1 NoObject"}},
		"a snapshot that the driver has just made":   {func(i *Inventory) { i.Handles, i.Stored[0].Created = nil, ago(time.Minute) }, nil},
		"a snapshot that the driver made yesterday":  {func(i *Inventory) { i.Handles, i.Stored[0].Created = nil, ago(old) }, []string{"VolumeSnapshotContent s1 NoObject"}},
		"a keeper that follows no request is no one": {func(i *Inventory) { i.Keepers[2].Follows = "gone" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inv := whole()
			tc.change(&inv)
			var got []string
			for _, l := range Find(inv, now, Patience) {
				if l.Message == "" || l.Since.After(now) {
					t.Errorf("%+v says nothing", l)
				}
				got = append(got, string(l.Kind)+" "+l.Name+" "+string(l.Reason))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLasting(t *testing.T) {
	a, b := Leak{Kind: Content, Name: "a", Reason: NoKeeper}, Leak{Kind: Content, Name: "b", Reason: NoKeeper}
	again := a
	again.Since = now
	stuck := b
	stuck.Reason = Stuck
	if diff := cmp.Diff([]Leak{again}, Lasting([]Leak{a, b}, []Leak{again, stuck})); diff != "" {
		t.Error(diff)
	}
}
