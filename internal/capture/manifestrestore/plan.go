package manifestrestore

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Key names an object among those of a checkpoint. Its version may change between capture
// and restore, so it is not part of the name.
type Key struct{ Group, Kind, Name string }

// Outline is what must be known of an object before its turn comes. A checkpoint can hold more objects than fit into
// memory, so they are read twice: for their outlines, and then one frame after another to be written.
type Outline struct {
	Key
	Version string
	Frame   int // of the checkpoint that holds it
	owners  []metav1.OwnerReference
	leans   []Key
}

// OutlineOf is that of an object in a frame.
func OutlineOf(obj *unstructured.Unstructured, frame int) Outline {
	return Outline{Key: KeyOf(obj), Version: obj.GroupVersionKind().Version, Frame: frame, owners: obj.GetOwnerReferences(), leans: leans(obj)}
}

func (o Outline) isClaim() bool { return o.Kind == "PersistentVolumeClaim" && o.Group == "" }

// GroupVersionKind is that of the object.
func (o Outline) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind}
}

// Item is one object to restore.
type Item struct {
	Outline
	// Object is what to write, but for its owners and its mark: both are known only when its
	// turn comes, and so is the object itself.
	Object *unstructured.Unstructured
	// Owners are the references to objects that are restored, too.
	Owners []Owner
	// Capture is the VolumeCaptureRequest that holds the volume of a claim; "" if the claim
	// is restored empty, or the object is no claim.
	Capture string
	// CaptureUID is that of this request: its name may be used again.
	CaptureUID types.UID
}

// Task is what a plan is for.
type Task struct {
	By   types.UID // the request
	Into string    // its namespace
	From string    // the namespace that the objects were captured in
	// Volumes says what becomes of the data of claims.
	Volumes []capturev1.ManifestVolume
	// Classes are storage classes that are restored as others.
	Classes []capturev1.StorageClassMapping
}

// NewPlan is the objects of a checkpoint in the order in which they are restored. Each comes
// after its owners. Of two objects of one name only the first counts.
func NewPlan(outlines []Outline, t Task) []Item {
	captures := map[string]capturev1.ManifestVolume{}
	for _, v := range t.Volumes {
		captures[v.Claim] = v
	}
	var items []Item
	known := map[Key]bool{}
	for _, o := range outlines {
		key := o.Key
		if known[key] {
			continue
		}
		known[key] = true
		item := Item{Outline: o}
		if o.isClaim() {
			item.Capture, item.CaptureUID = captures[key.Name].VolumeCaptureRequest, captures[key.Name].UID
		}
		items = append(items, item)
	}
	for i := range items {
		// A claim that gets its volume back comes before whoever may make an empty one of its
		// name, its owner included, which takes it over when it finds it.
		if items[i].Capture == "" {
			items[i].Owners = items[i].owned(known)
		}
	}
	return inOrder(items)
}

// Filled is the item with its object, as it was captured.
func (i Item) Filled(obj *unstructured.Unstructured, t Task) Item {
	i.Object = adapt(obj, t)
	i.Object.SetOwnerReferences(nil)
	return i
}

// KeyOf is the name of an object.
func KeyOf(obj *unstructured.Unstructured) Key {
	gvk := obj.GroupVersionKind()
	return Key{Group: gvk.Group, Kind: gvk.Kind, Name: obj.GetName()}
}
