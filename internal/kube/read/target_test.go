package read

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// forest is a server that has objects of any kind, by kind and name.
type forest struct {
	client.Reader
	objects map[string]*unstructured.Unstructured
	err     error // of every read of what it does not have
}

func (f forest) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	is := obj.(*unstructured.Unstructured)
	there, ok := f.objects[is.GroupVersionKind().GroupKind().String()+" "+key.String()]
	switch {
	case ok:
		there.DeepCopyInto(is)
		return nil
	case f.err != nil:
		return f.err
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: is.GroupVersionKind().Group}, key.Name)
}

// chain is objects of these kinds, each controlled by the one before it, and the last of them.
func chain(kinds ...schema.GroupVersionKind) (forest, *unstructured.Unstructured) {
	f := forest{objects: map[string]*unstructured.Unstructured{}}
	var last *unstructured.Unstructured
	for i, kind := range kinds {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(kind)
		obj.SetNamespace("shop")
		obj.SetName(fmt.Sprintf("o%d", i))
		obj.SetUID(types.UID(fmt.Sprintf("u%d", i)))
		if last != nil {
			obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(last, last.GroupVersionKind())})
		}
		f.objects[kind.GroupKind().String()+" shop/"+obj.GetName()] = obj
		last = obj
	}
	return f, last
}

// TestTargetOf: what is reserved for a target is what operates on it.
func TestTargetOf(t *testing.T) {
	apps := func(kind string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind}
	}
	ours, pod := schema.GroupVersionKind{Group: "valkey.statecraft.dev", Version: "v1alpha1", Kind: "ValkeyCluster"}, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	set, deployment := apps("StatefulSet"), apps("Deployment")
	reference := func(change func(*metav1.OwnerReference)) func(*forest, *unstructured.Unstructured) {
		return func(_ *forest, obj *unstructured.Unstructured) {
			refs := obj.GetOwnerReferences()
			change(&refs[0])
			obj.SetOwnerReferences(refs)
		}
	}
	unchanged := func(*forest, *unstructured.Unstructured) {}
	for name, tc := range map[string]struct {
		kinds  []schema.GroupVersionKind // from the uppermost owner to the target
		change func(*forest, *unstructured.Unstructured)
		want   int // which of the chain; -1 is an error
	}{
		"what nobody controls":                   {[]schema.GroupVersionKind{pod}, unchanged, 0},
		"what others control":                    {[]schema.GroupVersionKind{deployment, set, pod}, unchanged, 2},
		"one of ours itself":                     {[]schema.GroupVersionKind{deployment, ours}, unchanged, 1},
		"a child of ours":                        {[]schema.GroupVersionKind{ours, set}, unchanged, 0},
		"a grandchild of ours":                   {[]schema.GroupVersionKind{ours, set, pod}, unchanged, 0},
		"the nearest of two of ours":             {[]schema.GroupVersionKind{ours, deployment, ours, set, pod}, unchanged, 2},
		"five below ours":                        {[]schema.GroupVersionKind{ours, set, set, set, set, pod}, unchanged, 0},
		"six below ours":                         {[]schema.GroupVersionKind{ours, set, set, set, set, set, pod}, unchanged, 6},
		"owned by ours, but not controlled":      {[]schema.GroupVersionKind{ours, pod}, reference(func(r *metav1.OwnerReference) { r.Controller = ptr.To(false) }), 1},
		"another has the name of its owner":      {[]schema.GroupVersionKind{ours, pod}, reference(func(r *metav1.OwnerReference) { r.UID = "forged" }), 1},
		"its owner is gone":                      {[]schema.GroupVersionKind{ours, pod}, reference(func(r *metav1.OwnerReference) { r.Name = "gone" }), 1},
		"ours of an older version":               {[]schema.GroupVersionKind{ours, pod}, reference(func(r *metav1.OwnerReference) { r.APIVersion = "valkey.statecraft.dev/v1" }), 0},
		"controlled by itself":                   {[]schema.GroupVersionKind{set, pod}, func(f *forest, obj *unstructured.Unstructured) { cycle(f, obj) }, 1},
		"an owner that cannot be read":           {[]schema.GroupVersionKind{ours, set, pod}, func(f *forest, _ *unstructured.Unstructured) { f.lose(set.GroupKind(), errors.New("no route")) }, -1},
		"an owner of a kind that is not served":  {[]schema.GroupVersionKind{set, pod}, func(f *forest, _ *unstructured.Unstructured) { f.lose(set.GroupKind(), unserved) }, -1},
		"below one of ours nobody needs to look": {[]schema.GroupVersionKind{set, ours, pod}, func(f *forest, _ *unstructured.Unstructured) { f.lose(set.GroupKind(), unserved) }, 1},
	} {
		server, obj := chain(tc.kinds...)
		tc.change(&server, obj)
		got, err := Live{Reader: server}.TargetOf(t.Context(), obj, []schema.GroupKind{ours.GroupKind()})
		want := Ref{}
		if tc.want >= 0 {
			kind := tc.kinds[tc.want].GroupKind()
			want = reserve.RefOf(kind, &metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("o%d", tc.want), UID: types.UID(fmt.Sprintf("u%d", tc.want))})
		}
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (tc.want < 0) {
			t.Errorf("%s: %s, %v", name, diff, err)
		}
	}
}

var unserved = apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "o0", "404 page not found", 0, true)

// lose answers reads of objects of a kind with an error.
func (f *forest) lose(kind schema.GroupKind, err error) {
	f.err = err
	for key, obj := range f.objects {
		if obj.GroupVersionKind().GroupKind() == kind {
			delete(f.objects, key)
		}
	}
}

// cycle lets an object be controlled by itself.
func cycle(f *forest, obj *unstructured.Unstructured) {
	obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(obj, obj.GroupVersionKind())})
	f.objects[obj.GroupVersionKind().GroupKind().String()+" shop/"+obj.GetName()] = obj
}
