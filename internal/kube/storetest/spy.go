package storetest

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// spy is the client of one process: its cache may stand still, and its writes are counted.
type spy struct {
	client.Client
	still   map[string]client.Object // nil: the cache is up to date
	writes  int
	answers func() // called before a write is answered
}

// freeze lets the cache show what it is first asked for from now on, whatever comes.
func (s *spy) freeze() { s.still = map[string]client.Object{} }

// Get implements client.Reader.
func (s *spy) Get(ctx context.Context, key read.Key, obj client.Object, opts ...client.GetOption) error {
	if s.still == nil {
		return s.Client.Get(ctx, key, obj, opts...)
	}
	what := reflect.TypeOf(obj).String() + " " + key.String()
	if _, shown := s.still[what]; !shown {
		if err := s.Client.Get(ctx, key, obj, opts...); err != nil {
			return err
		}
		s.still[what] = obj.DeepCopyObject().(client.Object)
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(s.still[what].DeepCopyObject()).Elem())
	return nil
}

// Patch implements client.Writer.
func (s *spy) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return s.wrote(s.Client.Patch(ctx, obj, patch, opts...))
}

// Update implements client.Writer.
func (s *spy) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return s.wrote(s.Client.Update(ctx, obj, opts...))
}

// Create implements client.Writer.
func (s *spy) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return s.wrote(s.Client.Create(ctx, obj, opts...))
}

// Status implements client.StatusClient.
func (s *spy) Status() client.SubResourceWriter { return status{s.Client.Status(), s} }

type status struct {
	client.SubResourceWriter
	spy *spy
}

// Patch implements client.SubResourceWriter.
func (s status) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.spy.wrote(s.SubResourceWriter.Patch(ctx, obj, patch, opts...))
}

func (s *spy) wrote(err error) error {
	s.writes++
	if s.answers != nil && err == nil {
		s.answers()
	}
	return err
}
