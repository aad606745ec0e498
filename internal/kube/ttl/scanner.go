package ttl

import (
	"context"
	"errors"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// page is how many objects are read at once.
const page = 500

// Kind is a kind whose objects end, and go some time after.
type Kind struct {
	Name  string
	Terms Terms
	// List makes an empty list of the kind.
	List func() client.ObjectList
	// End says how and when an object of the kind ended.
	End func(client.Object) End
	// Needed says that something still depends on an object that is due; nil is that nothing ever does. What it cannot find
	// out is an error, and the object stays.
	Needed func(context.Context, client.Object) (bool, error)
}

// Of is the kind of T. What is not a T has not ended.
func Of[T client.Object](name string, terms Terms, list func() client.ObjectList, end func(T) End) Kind {
	return Kind{Name: name, Terms: terms, List: list, End: func(obj client.Object) End {
		if is, ok := obj.(T); ok {
			return end(is)
		}
		return End{}
	}}
}

// Scanner lists and deletes; it can do nothing else.
type Scanner struct {
	Live read.Live
	// Delete removes the very object that was seen, in the version that was judged.
	Delete func(context.Context, client.Object, kube.Seen) error
	Now    func() time.Time
	// Mine says which objects are this process's; another one may work on the rest.
	Mine func(read.Key) bool
	// Namespaces are where to look; none is everywhere.
	Namespaces []string
	Kinds      []Kind
	// Gone is told the kind of every object that was deleted.
	Gone func(kind string)
}

// New is a scanner of some kinds, with what an Env gives.
func New(e kube.Env, gone func(kind string), kinds ...Kind) Scanner {
	return Scanner{
		Live: e.LiveReader(), Delete: e.Writer("ttl").Delete, Now: e.Now,
		Mine: e.Shard.Has, Namespaces: e.Namespaces, Kinds: kinds, Gone: gone,
	}
}

// Run scans while the process leads the area, unless nothing of any kind ever goes.
func (s Scanner) Run(a *kube.Area) error {
	every, ever := s.every()
	if !ever {
		return nil
	}
	return a.Every("ttl", every, s.Scan)
}

// every is how often to look, and whether at all.
func (s Scanner) every() (every time.Duration, ever bool) {
	every = latest
	for _, k := range s.Kinds {
		ever = ever || k.Terms.Ever()
		every = min(every, k.Terms.Every())
	}
	return every, ever
}

// Scan looks through all kinds once. What goes wrong with one kind does not keep the
// others, and is tried again at the next scan.
func (s Scanner) Scan(ctx context.Context) error {
	var errs []error
	for _, k := range s.Kinds {
		if k.Terms.Ever() {
			errs = append(errs, s.scanKind(ctx, k))
		}
	}
	return errors.Join(errs...)
}

func (s Scanner) scanKind(ctx context.Context, k Kind) error {
	namespaces := s.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var errs []error
	for _, ns := range namespaces {
		for next := ""; ; {
			list := k.List()
			if err := s.Live.List(ctx, list, client.InNamespace(ns), client.Limit(page), client.Continue(next)); err != nil {
				errs = append(errs, fmt.Errorf("list %s: %w", k.Name, err))
				break
			}
			errs = append(errs, s.sweep(ctx, k, list))
			if next = list.GetContinue(); next == "" || ctx.Err() != nil {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// sweep deletes what is due of one page.
func (s Scanner) sweep(ctx context.Context, k Kind, list client.ObjectList) error {
	items, err := apimeta.ExtractList(list)
	if err != nil {
		return fmt.Errorf("read list of %s: %w", k.Name, err)
	}
	var errs []error
	for _, item := range items {
		obj, ok := item.(client.Object)
		if !ok || obj.GetDeletionTimestamp() != nil || !s.Mine(client.ObjectKeyFromObject(obj)) {
			continue
		}
		if at, ever := k.Terms.Due(k.End(obj)); !ever || s.Now().Before(at) {
			continue
		}
		errs = append(errs, s.remove(ctx, k, obj))
	}
	return errors.Join(errs...)
}

// remove deletes an object that is due, unless something still depends on it.
func (s Scanner) remove(ctx context.Context, k Kind, obj client.Object) error {
	if k.Needed != nil {
		if needed, err := k.Needed(ctx, obj); needed || err != nil {
			return err
		}
	}
	if err := s.Delete(ctx, obj, kube.SeenOf(obj)); err != nil {
		return err
	}
	s.Gone(k.Name)
	return nil
}
