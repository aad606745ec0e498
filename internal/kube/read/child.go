package read

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// Children compares children with what their controller would apply.
type Children struct {
	Live    Live
	Manager string      // of the controller's fields
	Stamp   child.Stamp // that its children bear
}

// State compares a child from the cache with what would be applied. The cache may be behind and
// has no field managers, so what differs is looked at live; at rest nothing does.
func (c Children) State(ctx context.Context, want, cached client.Object) (child.State, error) {
	if c.Stamp.Of(want) != c.Stamp.Of(cached) {
		return child.State{}, nil
	}
	is := child.State{Stamped: true}
	fields, err := child.Differs(want, cached)
	if err != nil || len(fields) == 0 {
		return is, err
	}
	live := reflect.New(reflect.TypeOf(want).Elem()).Interface().(client.Object)
	switch err := c.Live.Get(ctx, client.ObjectKeyFromObject(want), live); {
	case apierrors.IsNotFound(err), err == nil && live.GetUID() != cached.GetUID():
		return is, nil // the next look finds it gone
	case err != nil:
		return is, fmt.Errorf("read %T %s: %w", want, want.GetName(), err)
	}
	if fields, err = child.Differs(want, live); err != nil {
		return is, err
	}
	is.Edits, err = child.Edits(fields, live, c.Manager)
	return is, err
}
