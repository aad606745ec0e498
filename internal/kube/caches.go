package kube

import (
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Cached is a kind that an area reads through its cache or watches, and which of its objects.
// A cluster may have a hundred thousand objects of a kind of which ten are ours, so objects of
// other kinds than our own are selected, stripped, or cached as metadata alone.
type Cached struct {
	// Of is the kind. As a PartialObjectMetadata it is enough to wake objects by name: nothing
	// but name, UID, version and time of deletion is kept then.
	Of client.Object
	// Labels and Fields select what is cached; nil is all.
	Labels labels.Selector
	Fields fields.Selector
	// Strip removes what no reader looks at, before an object is kept; nil is nothing.
	Strip func(client.Object)

	in string // the only namespace, whichever the process looks at; "" is those
}

// HasLabel selects the objects that have a label, whatever its value.
func HasLabel(key string) labels.Selector {
	has, err := labels.NewRequirement(key, selection.Exists, nil)
	if err != nil {
		panic(err) // the key is a constant of ours
	}
	return labels.NewSelector().Add(*has)
}

// ownGroups is how the groups of our kinds end.
const ownGroups = ".statecraft.dev"

// cachedKind is a kind in one of its forms, typed or metadata alone. Each form is cached apart.
type cachedKind struct {
	schema.GroupVersionKind
	metadata bool
}

func (k cachedKind) String() string {
	if k.metadata {
		return "metadata of " + k.Kind
	}
	return k.Kind
}

// Caches are the kinds that an area declares in AreaSetup.Caches. What is not among them is not
// cached: an informer that nobody declared would hold all objects of its kind.
type Caches struct {
	area   string
	scheme *runtime.Scheme
	kinds  map[cachedKind]Cached
}

// NewCaches checks what an area declares.
func NewCaches(area string, scheme *runtime.Scheme, declared ...Cached) (Caches, error) {
	c := Caches{area: area, scheme: scheme, kinds: map[cachedKind]Cached{}}
	forms := map[schema.GroupVersionKind]bool{}
	for _, d := range declared {
		kind, err := c.kindOf(d.Of)
		switch {
		case err != nil:
			return c, fmt.Errorf("declare caches of area %s: %w", area, err)
		case forms[kind.GroupVersionKind]:
			return c, fmt.Errorf("declare caches of area %s: %s is declared twice", area, kind.Kind)
		case d.holdsAll(kind):
			return c, fmt.Errorf("declare caches of area %s: every %s of the cluster would be cached; select, strip, or cache metadata alone", area, kind.Kind)
		}
		forms[kind.GroupVersionKind] = true
		c.kinds[kind] = d
	}
	return c, nil
}

// holdsAll says that objects of others would be cached, all of them and whole.
func (d Cached) holdsAll(kind cachedKind) bool {
	return !strings.HasSuffix(kind.Group, ownGroups) && !kind.metadata && d.Labels == nil && d.Fields == nil && d.Strip == nil
}

// ReservationLeases is what every area caches that reserves targets.
func ReservationLeases(namespace string) Cached {
	return Cached{Of: &coordinationv1.Lease{}, Labels: labels.SelectorFromSet(labels.Set{reservationLabel: "true"}), in: namespace}
}

// Check says that a kind is declared, in the form in which it is asked for.
func (c Caches) Check(obj runtime.Object) error {
	kind, err := c.kindOf(obj)
	if err != nil {
		return err
	}
	if _, declared := c.kinds[kind]; !declared {
		return fmt.Errorf("area %s does not cache %s: declare it in Caches of the area's kube.AreaSetup, or read it live", c.area, kind)
	}
	return nil
}

// Shows says that the cache holds an object, by its labels. Fields are for the API server to judge.
func (c Caches) Shows(obj client.Object) bool {
	kind, err := c.kindOf(obj)
	if err != nil {
		return false
	}
	for _, form := range []bool{false, true} {
		if d, declared := c.kinds[cachedKind{kind.GroupVersionKind, form}]; declared {
			return d.Labels == nil || d.Labels.Matches(labels.Set(obj.GetLabels()))
		}
	}
	return false
}

// kindOf is the kind and form of an object, or of those in a list.
func (c Caches) kindOf(obj runtime.Object) (cachedKind, error) {
	gvk, err := apiutil.GVKForObject(obj, c.scheme)
	if err != nil {
		return cachedKind{}, fmt.Errorf("find the kind of %T: %w", obj, err)
	}
	kind := cachedKind{GroupVersionKind: gvk}
	switch obj.(type) {
	case *metav1.PartialObjectMetadata:
		kind.metadata = true
	case *metav1.PartialObjectMetadataList:
		kind.metadata = true
		kind.Kind = strings.TrimSuffix(gvk.Kind, "List")
	case client.ObjectList:
		kind.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	return kind, nil
}
