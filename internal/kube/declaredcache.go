package kube

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// options limits the caches to what the area declares and to namespaces, if any are named, and
// strips what no machine looks at. Managed fields are often half of an object.
func (c Caches) options(namespaces []string) cache.Options {
	o := cache.Options{DefaultTransform: cache.TransformStripManagedFields(), ByObject: map[client.Object]cache.ByObject{}}
	for kind, d := range c.kinds {
		by := cache.ByObject{Label: d.Labels, Field: d.Fields, Transform: d.transform(kind)}
		if d.in != "" {
			by.Namespaces = map[string]cache.Config{d.in: {}}
		}
		if by.Label != nil || by.Field != nil || by.Transform != nil || by.Namespaces != nil {
			o.ByObject[d.Of] = by
		}
	}
	for _, ns := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
		if o.DefaultNamespaces == nil {
			o.DefaultNamespaces = map[string]cache.Config{}
		}
		o.DefaultNamespaces[ns] = cache.Config{}
	}
	return o
}

// transform is what is kept of an object; nil is what is kept of any.
func (d Cached) transform(kind cachedKind) toolscache.TransformFunc {
	switch {
	case kind.metadata:
		return nameAndUID
	case d.Strip == nil:
		return nil
	}
	return func(in any) (any, error) {
		if obj, is := in.(client.Object); is { // else it is the mark of a deletion that nobody saw
			obj.SetManagedFields(nil)
			d.Strip(obj)
		}
		return in, nil
	}
}

// declaredCache refuses kinds that the area did not declare. Without it the first read of such a
// kind would begin to cache all of its objects.
type declaredCache struct {
	cache.Cache
	declared Caches
}

// newCache makes a cache of what is declared.
func (c Caches) newCache(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
	made, err := cache.New(cfg, o)
	if err != nil {
		return nil, err
	}
	return declaredCache{made, c}, nil
}

// check logs what it refuses: who looks for objects to wake has nobody to return an error to.
func (c declaredCache) check(ctx context.Context, obj runtime.Object) error {
	err := c.declared.Check(obj)
	if err != nil {
		log.FromContext(ctx).Error(err, "read of a kind that is not cached")
	}
	return err
}

// Get implements client.Reader.
func (c declaredCache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := c.check(ctx, obj); err != nil {
		return err
	}
	return c.Cache.Get(ctx, key, obj, opts...)
}

// List implements client.Reader.
func (c declaredCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.check(ctx, list); err != nil {
		return err
	}
	return c.Cache.List(ctx, list, opts...)
}

// GetInformer implements cache.Informers.
func (c declaredCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	if err := c.check(ctx, obj); err != nil {
		return nil, err
	}
	return c.Cache.GetInformer(ctx, obj, opts...)
}

// GetInformerForKind implements cache.Informers.
func (c declaredCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	obj, err := c.declared.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if err := c.check(ctx, obj); err != nil {
		return nil, err
	}
	return c.Cache.GetInformerForKind(ctx, gvk, opts...)
}

// IndexField implements client.FieldIndexer.
func (c declaredCache) IndexField(ctx context.Context, obj client.Object, field string, values client.IndexerFunc) error {
	if err := c.check(ctx, obj); err != nil {
		return err
	}
	return c.Cache.IndexField(ctx, obj, field, values)
}
