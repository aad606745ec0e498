package act

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Rewrapper wraps the keys of checkpoints with the active key of the operator, so that older ones can go.
type Rewrapper struct {
	Writer kube.Writer
	Live   read.Live
	// KeysIn is the namespace of the Secret with the keys.
	KeysIn string
}

// Rewrapped is what a look came to: how many were rewrapped, and how many of those that are left cannot be.
type Rewrapped struct{ Done, Left int }

// rewrapPage is how many checkpoints are read at once.
const rewrapPage = 250

// Rewrap goes through all checkpoints. One whose key is missing is left, and so is one that was changed meanwhile.
func (a Rewrapper) Rewrap(ctx context.Context) (did Rewrapped, err error) {
	var keys corev1.Secret
	switch err := a.Live.Get(ctx, read.Key{Namespace: a.KeysIn, Name: checkpoint.KeysSecret}, &keys); {
	case read.SaysGone(err, checkpoint.KeysSecret):
		return did, nil
	case err != nil:
		return did, fmt.Errorf("read keys: %w", err)
	}
	ring, err := checkpoint.ParseRing(keys.Data)
	if err != nil {
		return did, fmt.Errorf("read keys: %w", err)
	}
	var errs []error
	for next := ""; ; {
		var list capturev1.ManifestCheckpointList
		if err := a.Live.List(ctx, &list, read.Limit(rewrapPage), read.Continue(next)); err != nil {
			return did, fmt.Errorf("list checkpoints: %w", err)
		}
		for i := range list.Items {
			done, err := a.rewrap(ctx, ring, &list.Items[i])
			switch {
			case err != nil:
				errs = append(errs, err)
				did.Left++
			case done:
				did.Done++
			}
		}
		if next = list.Continue; next == "" {
			return did, errors.Join(errs...)
		}
	}
}

func (a Rewrapper) rewrap(ctx context.Context, ring checkpoint.Ring, c *capturev1.ManifestCheckpoint) (bool, error) {
	to, err := ring.Rewrap(&c.Spec, rand.Reader)
	if err != nil {
		return false, fmt.Errorf("rewrap key of checkpoint %s: %w", c.Name, err)
	}
	if to == nil {
		return false, nil
	}
	next := c.DeepCopy()
	next.Spec.Encryption = to
	return true, a.Writer.Patch(ctx, c, next)
}
