// Package entry names what a cluster puts into the spec of a device of Flight Control, and tells from a name whose it is.
// Applications and config entries of Flight Control carry no labels, so the name is all that says whose they are.
package entry

import (
	"errors"
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/types"
)

// Cluster is this cluster on a Flight Control that several may use: the first eight characters of the UID of namespace
// kube-system, which no two clusters share and which lives as long as the cluster.
type Cluster string

const clusterLength = 8

var (
	cluster = regexp.MustCompile(`^[0-9a-f]{8}$`)
	named   = regexp.MustCompile(`^sc-([0-9a-f]{8})-([0-9a-z]([-0-9a-z]*[0-9a-z])?)$`)
)

// ErrNoCluster is of a namespace whose UID is not one that an API server makes.
var ErrNoCluster = errors.New("the UID of namespace kube-system names no cluster")

// ClusterOf is the cluster whose namespace kube-system has this UID.
func ClusterOf(kubeSystem types.UID) (Cluster, error) {
	if len(kubeSystem) < clusterLength || !cluster.MatchString(string(kubeSystem[:clusterLength])) {
		return "", fmt.Errorf("%w: %q", ErrNoCluster, kubeSystem)
	}
	return Cluster(kubeSystem[:clusterLength]), nil
}

// nudge is in the place of a pod's UID in the name of the config entry that makes a new version of a device.
const nudge = "nudge"

// Of is the name of what belongs to a pod: its application, and its config entry. It depends on the UID and not on
// the pod's name: a pod that is made anew under its name is another one.
func (c Cluster) Of(pod types.UID) string { return "sc-" + string(c) + "-" + string(pod) }

// Nudge is the name of the config entry that is changed only to make a new version of a device.
func (c Cluster) Nudge() string { return c.Of(nudge) }

// Pod is the pod that an entry of this cluster belongs to.
func (c Cluster) Pod(name string) (uid types.UID, ours bool) {
	parts := named.FindStringSubmatch(name)
	if parts == nil || parts[1] != string(c) || parts[2] == nudge {
		return "", false
	}
	return types.UID(parts[2]), true
}

// Owns says that this cluster put the entry there: no other entry is ever written.
func (c Cluster) Owns(name string) bool {
	parts := named.FindStringSubmatch(name)
	return parts != nil && parts[1] == string(c)
}

// Other is the other cluster that put the entry there, if one did.
func (c Cluster) Other(name string) (other Cluster, is bool) {
	parts := named.FindStringSubmatch(name)
	if parts == nil || parts[1] == string(c) {
		return "", false
	}
	return Cluster(parts[1]), true
}

// folder is where files of pods lie on a device.
const folder = "/var/lib/statecraft/"

// Folder is where the files of a pod lie on its device.
func Folder(pod types.UID) string { return folder + string(pod) }

// NudgeFile is the file that the nudge of this cluster changes. Flight Control refuses one path for two config entries, so
// two clusters on one device have two.
func (c Cluster) NudgeFile() string { return folder + nudge + "-" + string(c) }
