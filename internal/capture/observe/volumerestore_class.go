package observe

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

const (
	defaultStorage     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultStorage = "storageclass.beta.kubernetes.io/is-default-class"
)

// class reads, live, the storage class that a claim will have.
func (o VolumeRestore) class(ctx context.Context, name *string) (volumerestore.Class, error) {
	c, err := storageClass(ctx, o.Live, name)
	switch {
	case err != nil:
		return volumerestore.Class{}, err
	case c == nil && name != nil:
		return volumerestore.Class{Name: *name, Missing: true}, nil
	case c == nil:
		return volumerestore.Class{Missing: true}, nil
	}
	return volumerestore.Class{Name: c.Name, Provisioner: c.Provisioner}, nil
}

// storageClass is the class of that name, or the default without a name; nil if there is none.
func storageClass(ctx context.Context, live read.Live, name *string) (*storagev1.StorageClass, error) {
	if name == nil {
		return defaultStorageClass(ctx, live)
	}
	c := &storagev1.StorageClass{}
	switch err := live.Get(ctx, read.Key{Name: *name}, c); {
	case *name == "" || read.SaysGone(err, *name):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read storage class %s: %w", *name, err)
	}
	return c, nil
}

// defaultStorageClass is the one that the API server would give to a claim: of several
// defaults the youngest, then the first by name.
func defaultStorageClass(ctx context.Context, live read.Live) (found *storagev1.StorageClass, err error) {
	var list storagev1.StorageClassList
	if err := live.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list storage classes: %w", err)
	}
	for i := range list.Items {
		c := &list.Items[i]
		if c.Annotations[defaultStorage] != "true" && c.Annotations[betaDefaultStorage] != "true" {
			continue
		}
		if found == nil || found.CreationTimestamp.Before(&c.CreationTimestamp) ||
			found.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < found.Name {
			found = c
		}
	}
	return found, nil
}
