package kubetest

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// IndexedReader is a cache without objects that refuses lists of all: whoever lists names an index
// that exists, as kind/index.
type IndexedReader struct {
	Scheme  *runtime.Scheme
	Indexes map[string]bool
	Lists   int   // that were asked for
	Err     error // of the last list that was refused
}

// IndexName is the entry of an index of a kind.
func IndexName(of client.Object, name string, scheme *runtime.Scheme) (string, error) {
	gvk, err := apiutil.GVKForObject(of, scheme)
	return gvk.Kind + "/" + name, err
}

// Get implements client.Reader: what is read by name is no list.
func (r *IndexedReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return nil
}

// List implements client.Reader.
func (r *IndexedReader) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	r.Lists++
	r.Err = r.check(list, opts)
	return r.Err
}

func (r *IndexedReader) check(list client.ObjectList, opts []client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, r.Scheme)
	if err != nil {
		return err
	}
	options := (&client.ListOptions{}).ApplyOptions(opts)
	kind := strings.TrimSuffix(gvk.Kind, "List")
	if options.FieldSelector == nil || options.FieldSelector.Empty() {
		return fmt.Errorf("all %s are listed", kind)
	}
	for _, by := range options.FieldSelector.Requirements() {
		if !r.Indexes[kind+"/"+by.Field] {
			return fmt.Errorf("%s are listed by %s, which is no index", kind, by.Field)
		}
	}
	return nil
}
