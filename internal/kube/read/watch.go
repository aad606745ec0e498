package read

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Sight is what a watch of an optional kind knows of an object.
type Sight string

// The sights. Absent is the word of a cache, which is no proof.
const (
	SightHere    Sight = "Here"
	SightAbsent  Sight = "Absent"
	SightNotYet  Sight = "NotYet"  // the first list is under way
	SightUnknown Sight = "Unknown" // not served, forbidden, or not running
)

// Watch is the read side of a kube.OptionalWatch.
type Watch interface {
	Look(gvk schema.GroupVersionKind, key Key) (*metav1.PartialObjectMetadata, Sight)
}
