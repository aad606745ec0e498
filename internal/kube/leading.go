package kube

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metricLeading tells which replica works. That nobody does is only seen from outside: by the sum over all replicas.
var metricLeading = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "statecraft_leading", Help: "1 while this process leads the area, or its shard of the area; 0 while it waits to be elected."},
	[]string{"area", "shard"})

// showLeading tells whether this process leads the area.
func (a *Area) showLeading() error {
	gauge := metricLeading.WithLabelValues(a.Name, a.Env.Shard.String())
	gauge.Set(0)
	err := a.Run(func(ctx context.Context) error {
		gauge.Set(1)
		defer gauge.Set(0)
		<-ctx.Done()
		return nil
	})
	if err != nil {
		return fmt.Errorf("show who leads: %w", err)
	}
	return nil
}
