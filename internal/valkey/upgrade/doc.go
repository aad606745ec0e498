// Package upgrade decides how a ValkeyUpgrade brings a cluster onto another pod template:
// one shard after the other, in each the replicas first, then a failover, then what was the
// primary. It is pure.
//
// It writes no StatefulSet. What a shard is to have is a wish in the status, by the name of
// the template, which the cluster's controller follows and the StatefulSet then bears. What
// is done here is to delete pods, one at a time, and to ask a replica to take over; both
// only with a proof of plan.
//
// # Going back
//
// What fails goes back by itself, over the same phases, by the revision that the shard had
// before. A shard whose primary still has the former version loses nothing by it. Where the
// primary has the new one, the first replica that goes back is the probe: if it cannot copy
// what the new version has written, there is no way back, and it goes forward again.
package upgrade
