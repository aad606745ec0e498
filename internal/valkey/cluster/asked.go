package cluster

import (
	"slices"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Servers are restarted because a user edited the spec, or because another version of the operator, or another default
// of the API server, makes other pods of the same spec. The user wants a restart now. No user asked for the other one.

// editedByUser says that a user edited what pods are made of, and that not every shard was brought to that yet. Where
// nobody knows, as in a cluster that an earlier version made, nobody did.
func editedByUser(in input) bool {
	hash, was := in.World.PodFields, in.Obj.Status.PodFields
	if hash == "" {
		return true // not read, and nothing to compare
	}
	// With another generation it was an edit. With the same one, the API server added a default.
	return was != nil && (was.Edited || was.Hash != hash && was.Generation != in.Obj.Generation)
}

// notePodFields remembers what the spec asks of pods. An edit counts until every shard was brought to it: one that is
// taken back half way brings servers back as soon as it came.
func notePodFields(out *valkeyv1.ValkeyCluster, in input) {
	if in.World.PodFields == "" {
		return
	}
	_, outdated := editedShard(in.World)
	edited := editedByUser(in) && in.World.Formed && (outdated || !in.World.looked() || ownUnderWay(in.World))
	out.Status.PodFields = &valkeyv1.PodFields{Generation: in.Obj.Generation, Hash: in.World.PodFields, Edited: edited}
}

// ownUnderWay says that an upgrade of the cluster's own has not ended.
func ownUnderWay(w World) bool {
	return slices.ContainsFunc(w.Own, func(u OwnUpgrade) bool { return !u.Ended })
}
