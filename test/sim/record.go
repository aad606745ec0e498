package sim

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// record is every version of every object that was written or seen in a plan, in
// order. A cache that lags is a view of it as of an earlier moment.
type record struct {
	versions []version
	byRef    map[Ref][]int                      // of versions, in order
	before   map[Ref]*unstructured.Unstructured // what was there, or not, all along
	byKind   map[schema.GroupVersionKind][]Ref  // all that are known, by name
}

type version struct {
	ref Ref
	obj *unstructured.Unstructured // nil: gone
}

func newRecord() record {
	return record{
		byRef: map[Ref][]int{}, before: map[Ref]*unstructured.Unstructured{},
		byKind: map[schema.GroupVersionKind][]Ref{},
	}
}

// add appends a version, unless it is the one we know, and returns the one before.
func (r *record) add(ref Ref, obj *unstructured.Unstructured) (was *unstructured.Unstructured, news bool) {
	was = r.latest(ref)
	switch {
	case obj == nil && was == nil:
		return nil, false
	case obj != nil && was != nil && obj.GetUID() == was.GetUID() && obj.GetResourceVersion() == was.GetResourceVersion():
		return was, false
	}
	r.remember(ref)
	r.byRef[ref] = append(r.byRef[ref], len(r.versions))
	r.versions = append(r.versions, version{ref, obj})
	return was, true
}

// found notes what is known of an object, nil if it does not exist, from a read
// that was not made before because nobody had asked.
func (r *record) found(ref Ref, obj *unstructured.Unstructured) {
	if !r.knows(ref) {
		r.remember(ref)
		r.before[ref] = obj
	}
}

func (r *record) knows(ref Ref) bool {
	_, found := r.before[ref]
	return found || len(r.byRef[ref]) > 0
}

func (r *record) latest(ref Ref) *unstructured.Unstructured { return r.asOf(ref, len(r.versions)) }

// asOf is the object as of a moment, a number of versions.
func (r *record) asOf(ref Ref, moment int) *unstructured.Unstructured {
	for _, i := range slices.Backward(r.byRef[ref]) {
		if i < moment {
			return r.versions[i].obj
		}
	}
	return r.before[ref]
}

// kind lists the objects of a kind as of a moment, in the order of their names.
func (r *record) kind(kind schema.GroupVersionKind, moment int) (found []Ref) {
	for _, ref := range r.byKind[kind] {
		if r.asOf(ref, moment) != nil {
			found = append(found, ref)
		}
	}
	return found
}

// outside are the objects that exist or existed outside of a namespace.
func (r *record) outside(namespace string) (found []Ref) {
	for _, refs := range r.byKind {
		for _, ref := range refs {
			if ref.Namespace != namespace && len(r.byRef[ref]) > 0 {
				found = append(found, ref)
			}
		}
	}
	return found
}

// remember keeps the names of a kind in order.
func (r *record) remember(ref Ref) {
	if r.knows(ref) {
		return
	}
	refs := r.byKind[ref.GroupVersionKind]
	at, _ := slices.BinarySearchFunc(refs, ref, func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	r.byKind[ref.GroupVersionKind] = slices.Insert(refs, at, ref)
}
