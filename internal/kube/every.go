package kube

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// lookAgain is how soon a look that failed is repeated, if it is not sooner anyway.
const lookAgain = 5 * time.Second

// Every looks at once and then every so often, while this process leads.
func (a *Area) Every(name string, every time.Duration, look func(context.Context) error) error {
	if err := a.Run(func(ctx context.Context) error { return repeat(ctx, name, every, look) }); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	return nil
}

// repeat looks until ctx ends. A look that fails is logged and counted, and soon repeated.
func repeat(ctx context.Context, name string, every time.Duration, look func(context.Context) error) error {
	failed := metricLookErrors.WithLabelValues(name) // it begins at 0, or the first error would be no increase
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		again := every
		if err := look(ctx); err != nil && ctx.Err() == nil {
			failed.Inc()
			log.FromContext(ctx).Error(err, "look", "look", name)
			again = min(every, lookAgain)
		}
		timer.Reset(again)
	}
}

// sweepEvery is how often reservations are looked through: a Lease without a target costs a
// few bytes, and nothing else.
const sweepEvery = 15 * time.Minute

// sweepReservations removes the reservations of gone targets of the kinds that the area reserves.
func (a *Area) sweepReservations() error {
	return a.Every("reservations", sweepEvery, func(ctx context.Context) error {
		_, err := a.Env.Reservations().Sweep(ctx, a.reserves...)
		return err
	})
}
