package plugin

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/internal/explain"
)

// naming are the sections about other objects of the kind that name this one: it may have ended before they were made, and
// then its own status does not know of them.
func (r *Reader) naming(ctx context.Context, of found, obj *unstructured.Unstructured) (all []explain.Section, unseen []string, err error) {
	if of.Machine.Named.Say == nil {
		return nil, nil, nil
	}
	listed, err := r.list(ctx, of.mapping, obj.GetNamespace(), "")
	if err != nil {
		return nil, []string{hidden(err, of.mapping.Resource.Resource, obj.GetNamespace(), ", so those that are about this one are left out")}, nil
	}
	others := slices.DeleteFunc(listed, func(u unstructured.Unstructured) bool {
		uid, _, _ := unstructured.NestedString(u.Object, of.Machine.Named.In...)
		return uid != string(obj.GetUID())
	})
	section, err := of.Machine.Named.Say(others)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", of.GroupKind.Kind, obj.GetName(), err)
	}
	return []explain.Section{section}, nil, nil
}
