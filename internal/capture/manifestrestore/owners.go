package manifestrestore

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Owner is a reference to an owner that is restored, too.
type Owner struct {
	Key
	Reference metav1.OwnerReference
}

// owned are the references of an object that can be rewired. Others are dropped: an owner
// that is not restored has no UID here, and what refers to it would be collected.
func (o Outline) owned(known map[Key]bool) (owners []Owner) {
	for _, ref := range o.owners {
		if o.isClaim() && ptr.Deref(ref.Controller, false) {
			continue // who makes claims finds them by their names
		}
		group := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).Group
		if key := (Key{group, ref.Kind, ref.Name}); known[key] && key != o.Key {
			owners = append(owners, Owner{key, ref})
		}
	}
	return owners
}

// Rewire is the references of an item to its owners as they are now, by the UIDs of what was
// restored. It says which owner was not, if any: a cycle is cut where it was entered, so an
// owner that has not had its turn is no reason to fail.
func (i Item) Rewire(restored func(Key) types.UID, failed map[Key]bool) (refs []metav1.OwnerReference, lacks *Owner) {
	for n := range i.Owners {
		o := i.Owners[n]
		if failed[o.Key] {
			return nil, &o
		}
		if o.Reference.UID = restored(o.Key); o.Reference.UID != "" {
			refs = append(refs, o.Reference)
		}
	}
	return refs, nil
}
