package setuptest

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// indexedReader is a cache without objects that refuses lists of all: whoever lists names an index
// that exists, as kind/index.
type indexedReader struct {
	scheme  *runtime.Scheme
	indexes map[string]bool
	lists   int   // that were asked for
	err     error // of the last list that was refused
}

// indexName is the entry of an index of a kind.
func indexName(of client.Object, name string, scheme *runtime.Scheme) (string, error) {
	gvk, err := apiutil.GVKForObject(of, scheme)
	return gvk.Kind + "/" + name, err
}

// Get implements client.Reader: what is read by name is no list.
func (r *indexedReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return nil
}

// List implements client.Reader.
func (r *indexedReader) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	r.lists++
	r.err = r.check(list, opts)
	return r.err
}

func (r *indexedReader) check(list client.ObjectList, opts []client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, r.scheme)
	if err != nil {
		return err
	}
	options := (&client.ListOptions{}).ApplyOptions(opts)
	kind := strings.TrimSuffix(gvk.Kind, "List")
	if options.FieldSelector == nil || options.FieldSelector.Empty() {
		return fmt.Errorf("all %s are listed", kind)
	}
	for _, by := range options.FieldSelector.Requirements() {
		if !r.indexes[kind+"/"+by.Field] {
			return fmt.Errorf("%s are listed by %s, which is no index", kind, by.Field)
		}
	}
	return nil
}
