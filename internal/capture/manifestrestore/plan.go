package manifestrestore

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Key names an object among those of a checkpoint. Its version may change between capture
// and restore, so it is not part of the name.
type Key struct{ Group, Kind, Name string }

// Item is one object to restore.
type Item struct {
	Key
	// Object is what to write, but for its owners and its mark: both are known only when its
	// turn comes.
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
}

// NewPlan is the objects of a checkpoint in the order in which they are restored. Each comes
// after its owners. Of two objects of one name only the first counts.
func NewPlan(objects []*unstructured.Unstructured, t Task) []Item {
	captures := map[string]capturev1.ManifestVolume{}
	for _, v := range t.Volumes {
		captures[v.Claim] = v
	}
	var items []Item
	known := map[Key]bool{}
	for _, obj := range objects {
		key := keyOf(obj)
		if known[key] {
			continue
		}
		known[key] = true
		item := Item{Key: key, Object: adapt(obj, t)}
		if key.Kind == "PersistentVolumeClaim" && key.Group == "" {
			item.Capture, item.CaptureUID = captures[key.Name].VolumeCaptureRequest, captures[key.Name].UID
		}
		items = append(items, item)
	}
	for i := range items {
		items[i].Owners = ownersOf(items[i].Object, known)
		items[i].Object.SetOwnerReferences(nil)
	}
	return inOrder(items)
}

func keyOf(obj *unstructured.Unstructured) Key {
	gvk := obj.GroupVersionKind()
	return Key{Group: gvk.Group, Kind: gvk.Kind, Name: obj.GetName()}
}
