package plugin

import (
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/statecraft-dev/statecraft/internal/explain"
)

// childKind is a kind of which objects may belong to an object of the area.
type childKind struct {
	schema.GroupVersionKind
	selector string // what the area looks at of them
}

// childKinds are those that the area's manager looks at itself, but for Secrets: of these nothing
// is ever asked for, not even names.
func (k Kind) childKinds() ([]childKind, error) {
	setup := k.Area.Default()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, setup.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	var all []childKind
	for _, c := range setup.Caches {
		gvk, err := apiutil.GVKForObject(c.Of, scheme)
		if err != nil {
			return nil, fmt.Errorf("find kinds of children: %w", err)
		}
		own := gvk.Group == k.Group
		if gvk.Kind == "Secret" || !own && c.Labels == nil {
			continue
		}
		child := childKind{GroupVersionKind: gvk}
		if c.Labels != nil {
			child.selector = c.Labels.String()
		}
		all = append(all, child)
	}
	return all, nil
}

// children are the objects that belong to an object: by their owner, or by the label of its kind.
func (r *Reader) children(ctx context.Context, of found, obj *unstructured.Unstructured) (all []explain.Child, unseen []string) {
	kinds, err := of.childKinds()
	if err != nil {
		return nil, []string{"Children are left out: " + err.Error() + "."}
	}
	var listed []unstructured.Unstructured
	for _, k := range kinds {
		mapping, err := r.mapper.RESTMapping(k.GroupKind(), k.Version)
		if err != nil || mapping.Scope.Name() != apimeta.RESTScopeNameNamespace || obj.GetNamespace() == "" {
			continue // not served, or of no namespace, where nothing can be owned by what is in one
		}
		some, err := r.list(ctx, mapping, obj.GetNamespace(), k.selector)
		if err != nil {
			unseen = append(unseen, hidden(err, mapping.Resource.Resource, obj.GetNamespace(), ", so they are left out"))
			continue
		}
		listed = append(listed, some...)
	}
	for _, child := range belonging(obj, of.Machine.Label, listed) {
		all = append(all, describe(child))
	}
	return all, unseen
}

// list reads objects. Of ConfigMaps only metadata is asked for: what is in them is of no use here.
func (r *Reader) list(ctx context.Context, mapping *apimeta.RESTMapping, namespace, selector string) (all []unstructured.Unstructured, err error) {
	options := metav1.ListOptions{LabelSelector: selector, Limit: page}
	for {
		var more string
		if mapping.GroupVersionKind.GroupKind() == (schema.GroupKind{Kind: "ConfigMap"}) {
			list, err := r.metadata.Resource(mapping.Resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return nil, err
			}
			for i := range list.Items {
				all = append(all, bare(&list.Items[i], mapping.GroupVersionKind))
			}
			more = list.GetContinue()
		} else {
			list, err := r.objects.Resource(mapping.Resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return nil, err
			}
			sortByName(list.Items)
			all, more = append(all, list.Items...), list.GetContinue()
		}
		if options.Continue = more; more == "" {
			return all, nil
		}
	}
}
