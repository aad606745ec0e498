package node

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
)

const (
	// NamePrefix begins the name of each Node of a device.
	NamePrefix = "edge-"
	scheme     = "statecraft-edge://"
	// longestName is that of a label's value: the hostname label of a Node is its name.
	longestName = 63
)

// Name is that of a device's Node; false is that it would be too long.
func Name(device string) (name string, fits bool) {
	name = NamePrefix + device
	return name, len(name) <= longestName
}

// ID is what a Node says of the device that it stands for.
type ID struct {
	Cluster entry.Cluster
	Pool    string
	Device  string
}

// String is the providerID of a Node. That of another form belongs to somebody else, a cloud's node controller included:
// one in this form keeps that controller from deleting the Node of a silent device.
func (id ID) String() string {
	return scheme + string(id.Cluster) + "/" + id.Pool + "/" + id.Device
}

// IDOf reads the providerID of a Node; false is that it is none of this area.
func IDOf(node *corev1.Node) (id ID, is bool) {
	rest, is := strings.CutPrefix(node.Spec.ProviderID, scheme)
	parts := strings.Split(rest, "/")
	if !is || len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return ID{}, false
	}
	return ID{entry.Cluster(parts[0]), parts[1], parts[2]}, true
}

// Problem is why a device has no Node of its own.
type Problem string

// The problems of a device.
const (
	NameTaken   Problem = "NameTaken"   // a Node of that name stands for something else
	TakenByPool Problem = "TakenByPool" // another pool announces the device
	NameTooLong Problem = "NameTooLong" // the name of its Node would be too long
)

// taken is whose a Node is that is not this device's.
func taken(node *corev1.Node, id ID) Problem {
	other, is := IDOf(node)
	switch {
	case is && other == id:
		return ""
	case is && other.Cluster == id.Cluster && other.Device == id.Device:
		return TakenByPool
	}
	return NameTaken
}
