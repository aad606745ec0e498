package sim

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// record is every version of every object that was written or seen in a plan, in
// order. A cache that lags is a view of it as of an earlier moment.
type record struct {
	versions []version
	byRef    map[Ref][]int // of versions, in order
}

type version struct {
	ref Ref
	obj *unstructured.Unstructured // nil: gone
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
	r.append(ref, obj)
	return was, true
}

// absent notes that an object that is not known does not exist.
func (r *record) absent(ref Ref) {
	if r.knows(ref) {
		return
	}
	r.append(ref, nil)
}

func (r *record) append(ref Ref, obj *unstructured.Unstructured) {
	if r.byRef == nil {
		r.byRef = map[Ref][]int{}
	}
	r.byRef[ref] = append(r.byRef[ref], len(r.versions))
	r.versions = append(r.versions, version{ref, obj})
}

func (r *record) knows(ref Ref) bool { return len(r.byRef[ref]) > 0 }

func (r *record) latest(ref Ref) *unstructured.Unstructured {
	return r.asOf(ref, len(r.versions))
}

// asOf is the object as of a moment, a number of versions.
func (r *record) asOf(ref Ref, moment int) *unstructured.Unstructured {
	for _, i := range slices.Backward(r.byRef[ref]) {
		if i < moment {
			return r.versions[i].obj
		}
	}
	return nil
}

// refs are the objects of a kind that exist, in the order in which they came.
func (r *record) refs(kind schema.GroupVersionKind) (refs []Ref) {
	for i, v := range r.versions {
		if v.ref.GroupVersionKind == kind && r.byRef[v.ref][0] == i && r.latest(v.ref) != nil {
			refs = append(refs, v.ref)
		}
	}
	return refs
}

// outside are the objects that exist or existed outside of a namespace.
func (r *record) outside(namespace string) (refs []Ref) {
	for i, v := range r.versions {
		if v.ref.Namespace != namespace && r.byRef[v.ref][0] == i {
			refs = append(refs, v.ref)
		}
	}
	return refs
}
