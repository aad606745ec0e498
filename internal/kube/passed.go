package kube

import (
	"context"
	"time"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// PassReport is what one pass over an object did, for areas that keep a record of their passes.
type PassReport[T any] struct {
	Key   read.Key
	Began time.Time
	Took  time.Duration
	// Before is the object as it was read, After as it was saved: the same if nothing changed, or was not saved.
	Before, After T
	Decision      fsm.Decision
	Outcomes      []fsm.Outcome
	// Err is why the pass saw too little, decided nothing, or was not saved, be it for a conflict.
	Err error
}

// report looks, and tells Passed what came of it.
func (r *Reconciler[T, W]) report(ctx context.Context, key read.Key, obj T) (time.Duration, error) {
	made := PassReport[T]{Key: key, Began: r.Now(), Before: obj, After: obj}
	again, err := r.look(ctx, key, obj, &made)
	if err != nil {
		made.Err = err
	}
	made.Took = r.Now().Sub(made.Began)
	if r.Passed != nil {
		r.Passed(made)
	}
	return again, err
}
