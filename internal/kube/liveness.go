package kube

import (
	"context"
	"fmt"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Kind is what others must know of a kind that has a machine.
type Kind struct {
	schema.GroupKind
	OneShot bool
	Rests   func(fsm.Phase) bool // nothing is in flight: it has ended, or is ready
}

// KindOf describes the kind of a machine.
func KindOf[T fsm.Subject[T], W any](group string, m *fsm.Machine[T, W]) Kind {
	return Kind{GroupKind: schema.GroupKind{Group: group, Kind: m.Kind}, OneShot: m.OneShot, Rests: m.Rests}
}

// getRef reads an object live, in whichever version the API server prefers. nil without an
// error is the API server's word that it is gone: its name is free, or another object has it.
func getRef(ctx context.Context, live read.Live, mapper apimeta.RESTMapper, ref read.Ref) (*unstructured.Unstructured, error) {
	mapping, err := mapper.RESTMapping(ref.GroupKind())
	if err != nil { // a kind that is not served proves nothing about its objects
		return nil, fmt.Errorf("find kind of %s: %w", ref.Title(), err)
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(mapping.GroupVersionKind)
	err = live.Get(ctx, read.Key{Namespace: ref.Namespace, Name: ref.Name}, obj)
	switch {
	case read.SaysGone(err, ref.Name):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", ref.Title(), err)
	case obj.GetUID() != ref.UID:
		return nil, nil
	}
	return obj, nil
}

// alive tells whether the holder of a reservation may still be at work: it exists, and, if
// it is a one-shot, has neither ended nor come to rest. A standing kind gives back what it
// took; that it rests says nothing.
func alive(live read.Live, mapper apimeta.RESTMapper, kinds []Kind) read.Liveness {
	return func(ctx context.Context, holder read.Ref) (bool, error) {
		obj, err := getRef(ctx, live, mapper, holder)
		if err != nil || obj == nil {
			return false, err
		}
		i := slices.IndexFunc(kinds, func(k Kind) bool { return holder.Is(k.GroupKind) })
		if i < 0 || !kinds[i].OneShot {
			return true, nil
		}
		phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
		return !kinds[i].Rests(fsm.Phase(phase)), nil
	}
}
