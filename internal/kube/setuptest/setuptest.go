// Package setuptest tries that what an area sets up fits together: wakes, indexes and caches. Its
// checks return errors, so that each can be tried on an area that was broken on purpose.
package setuptest

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Wiring is what the controllers of an area are woken by.
type Wiring struct {
	Area    kube.AreaSetup
	Wakes   []kube.Wake // of all its kinds
	Indexes []kube.Index
	// Changed fill in an empty object of any kind, so that wakes have something to go by.
	Changed []func(client.Object)
	// Lists is how many lists the wakes make then, at least: without any, nothing would be tried.
	Lists int
}

// Caches are what the area declares, on the kinds that it knows.
func (w Wiring) Caches() (kube.Caches, error) {
	scheme, err := w.scheme()
	if err != nil {
		return kube.Caches{}, err
	}
	declared := w.Area.Caches
	if len(w.Area.Reserves) > 0 {
		declared = append(declared[:len(declared):len(declared)], kube.ReservationLeases("system"))
	}
	return kube.NewCaches(w.Area.Name, scheme, declared...)
}

// Cached says that every kind that is watched or indexed is cached. One that is not would be
// refused when the manager starts.
func (w Wiring) Cached() error {
	caches, err := w.Caches()
	if err != nil {
		return err
	}
	var errs []error
	for _, wake := range w.Wakes {
		if wake.Of == nil {
			continue
		}
		if err := caches.Check(wake.Of); err != nil {
			errs = append(errs, fmt.Errorf("wake %s: %w", wake.Name, err))
		}
	}
	for _, i := range w.Indexes {
		if err := caches.Check(i.Of); err != nil {
			errs = append(errs, fmt.Errorf("index %s: %w", i.Name, err))
		}
	}
	return errors.Join(errs...)
}

// Indexed says that wakes list by an index that exists: no event costs a list of all objects.
func (w Wiring) Indexed(ctx context.Context) error {
	scheme, err := w.scheme()
	if err != nil {
		return err
	}
	cached := &indexedReader{scheme: scheme, indexes: map[string]bool{}}
	for _, i := range w.Indexes {
		name, err := indexName(i.Of, i.Name, scheme)
		if err != nil {
			return err
		}
		cached.indexes[name] = true
	}
	var errs []error
	for _, wake := range w.Wakes {
		if wake.Find == nil {
			continue
		}
		for _, change := range w.Changed {
			obj := shown(wake)
			change(obj)
			if wake.Find(ctx, cached, obj); cached.err != nil {
				errs = append(errs, fmt.Errorf("wake %s of %T: %w", wake.Name, obj, cached.err))
			}
		}
	}
	if cached.lists < w.Lists {
		errs = append(errs, fmt.Errorf("only %d lists were tried", cached.lists))
	}
	return errors.Join(errs...)
}

// shown is an empty object as the watch of a wake shows it.
func shown(wake kube.Wake) client.Object {
	if wake.Of == nil {
		return &metav1.PartialObjectMetadata{}
	}
	return wake.Of.DeepCopyObject().(client.Object)
}

func (w Wiring) scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, w.Area.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}
