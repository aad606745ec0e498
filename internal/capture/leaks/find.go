package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Patience is how young something may be, by default, without being a leak: it is being
// made, or the lists were read before and after.
const Patience = 10 * time.Minute

// deletionsTake is how long a deletion may take: drivers are slow, and try again.
const deletionsTake = time.Hour

// book is an inventory by its keys.
type book struct {
	Inventory
	now      time.Time
	patience time.Duration
	requests map[types.UID]Request
	keepers  map[types.UID]Keeper
	holders  map[types.UID]bool // by the request that detached
	listed   map[string]bool    // chunks
}

func open(inv Inventory, now time.Time, patience time.Duration) book {
	b := book{
		Inventory: inv, now: now, patience: patience,
		requests: map[types.UID]Request{}, keepers: map[types.UID]Keeper{},
		holders: map[types.UID]bool{}, listed: map[string]bool{},
	}
	for _, r := range inv.Requests {
		b.requests[r.UID] = r
	}
	for _, k := range inv.Keepers {
		b.keepers[k.UID] = k
	}
	for _, a := range inv.Artifacts {
		switch a.Kind {
		case Holder:
			b.holders[a.Request] = true
		case Checkpoint:
			for _, name := range a.Lists {
				b.listed[name] = true
			}
		}
	}
	return b
}

// Find says what leaks, by kind and name. What is younger than patience never does.
func Find(inv Inventory, now time.Time, patience time.Duration) []Leak {
	b, found := open(inv, now, patience), []Leak{}
	for _, k := range inv.Keepers {
		if reason, message := b.keeper(k); reason != "" {
			found = append(found, Leak{keeperKind, "", k.Name, reason, since(k.Created, k.Deleted), message})
		}
	}
	for _, a := range inv.Artifacts {
		if reason, message := b.artifact(a); reason != "" {
			found = append(found, Leak{a.Kind, a.Namespace, a.Name, reason, since(a.Created, a.Deleted), message})
		}
	}
	for _, s := range inv.Stored {
		if reason, message := b.stored(s); reason != "" {
			kind := Volume
			if s.Snapshot {
				kind = Content
			}
			found = append(found, Leak{kind, "", s.ID, reason, s.Created, message})
		}
	}
	slices.SortFunc(found, func(x, y Leak) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	return found
}

// Lasting are the leaks of two looks: what was only seen once was on its way.
func Lasting(before, after []Leak) []Leak {
	type key struct {
		kind            Kind
		namespace, name string
		reason          Reason
	}
	seen := map[key]bool{}
	for _, l := range before {
		seen[key{l.Kind, l.Namespace, l.Name, l.Reason}] = true
	}
	return slices.DeleteFunc(slices.Clone(after), func(l Leak) bool { return !seen[key{l.Kind, l.Namespace, l.Name, l.Reason}] })
}

func since(created time.Time, deleted *time.Time) time.Time {
	if deleted != nil {
		return *deleted
	}
	return created
}

func (b book) young(created time.Time) bool { return b.now.Sub(created) < b.patience }

// stuck is the verdict on what is being deleted: it is on its way, but for so long only.
func (b book) stuck(deleted time.Time) (Reason, string) {
	if b.now.Sub(deleted) < deletionsTake {
		return "", ""
	}
	return Stuck, "its deletion does not end: see who has a finalizer on it"
}

func (b book) keeper(k Keeper) (Reason, string) {
	_, there := b.requests[k.Follows]
	switch {
	case k.Deleted != nil:
		return b.stuck(*k.Deleted)
	case there || !requestKinds[k.Kind] || b.young(k.Created):
		return "", "" // whoever follows something else answers for it
	case k.Expires != nil && b.now.Before(k.Expires.Add(b.patience)):
		return "", "" // what it keeps is retained
	}
	return NoRequest, fmt.Sprintf("its %s is gone: if the manager runs, see what the keeper waits for", k.Kind)
}

// requestKinds are the kinds whose keepers are ours.
var requestKinds = map[string]bool{
	"VolumeCaptureRequest": true, "VolumeRestoreRequest": true, "ManifestCaptureRequest": true, "ManifestRestoreRequest": true,
}

func (b book) artifact(a Artifact) (Reason, string) {
	switch {
	case a.Deleted != nil:
		return b.stuck(*a.Deleted)
	case b.young(a.Created):
		return "", ""
	case a.Kind == Intent:
		return b.intent(a)
	case a.Kind == Volume:
		return b.volume(a)
	case !b.kept(a):
		return NoKeeper, "its keeper is gone: delete it, or give it another owner"
	case a.Kind == Chunk && !b.listed[a.Name] && b.over(a.Request):
		return NotListed, "its capture has ended without it: it goes with the request"
	}
	return "", ""
}

func (b book) kept(a Artifact) bool {
	return a.Adopted || slices.ContainsFunc(a.Keepers, func(uid types.UID) bool { _, there := b.keepers[uid]; return there })
}

// over says that a request has ended, or is gone.
func (b book) over(uid types.UID) bool {
	r, there := b.requests[uid]
	return !there || r.Ended()
}

func (b book) intent(a Artifact) (Reason, string) {
	if !b.over(a.Request) {
		return "", ""
	}
	return Unresolved, "its restore is over: see whether the restorer of the driver runs"
}

// volume looks at one that was taken from its claim. One that has a claim is held, or was restored.
func (b book) volume(a Artifact) (Reason, string) {
	if a.Bound || b.holders[a.Request] || !b.over(a.Request) {
		return "", ""
	}
	return NoHolder, "it was detached and no request or keeper holds it: restore it, or delete it and what the driver has"
}

func (b book) stored(s Stored) (Reason, string) {
	if b.Handles[s.Handle] || !s.Created.IsZero() && b.young(s.Created) {
		return "", ""
	}
	return NoObject, "the driver " + s.Driver + " has it, and no object names it: delete it there once you know whose it is"
}
