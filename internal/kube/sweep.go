package kube

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// sweepEvery is how often reservations are looked through: a Lease without a target costs a few bytes, and nothing else.
const sweepEvery = 15 * time.Minute

// SweepReservations removes, while this process leads, the reservations of targets of a group that are gone: at once,
// and then every quarter of an hour.
func (a *Area) SweepReservations(group string) error {
	err := a.Run(func(ctx context.Context) error {
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		for {
			if _, err := a.Env.Reservations().Sweep(ctx, group); err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "sweep reservations")
			}
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	})
	if err != nil {
		return fmt.Errorf("run sweep of reservations: %w", err)
	}
	return nil
}
