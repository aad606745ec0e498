package kube

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// ObjectCollector serves series that name objects. It asks for the objects at each scrape, so
// what is gone has no series at the next one.
type ObjectCollector struct {
	descs []*prometheus.Desc

	mu      sync.RWMutex
	sources map[*objectSource]bool
}

type objectSource struct {
	collect func(chan<- prometheus.Metric)
}

// NewObjectCollector makes a collector of these series. An area registers it once, and gives it
// objects by Collect.
func NewObjectCollector(descs ...*prometheus.Desc) *ObjectCollector {
	return &ObjectCollector{descs: descs, sources: map[*objectSource]bool{}}
}

// Describe implements prometheus.Collector.
func (c *ObjectCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *ObjectCollector) Collect(out chan<- prometheus.Metric) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for s := range c.sources {
		s.collect(out)
	}
}

func (c *ObjectCollector) add(s *objectSource) (remove func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources[s] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.sources, s)
	}
}

// Objects are those of one kind that have series of their own.
type Objects[O any] struct {
	Kind string
	// List reads from the cache, and copies nothing: what it returns must not be written to.
	List func(context.Context) ([]O, error)
	// Series are those of one object.
	Series func(O) []prometheus.Metric
}

// collectWithin is how long the objects of a kind may take. They are in memory.
const collectWithin = 3 * time.Second

// Collect lets a collector serve series of objects while this process leads the area. A kind that
// has more objects than the process may name has no series at all, and a gauge says so: half of
// them would look like all, and without a word none would look like well.
func Collect[O any](a *Area, c *ObjectCollector, o Objects[O]) error {
	err := a.Run(func(ctx context.Context) error {
		o.serve(ctx, c, a.metricsObjects)
		return nil
	})
	if err != nil {
		return fmt.Errorf("collect metrics of %s: %w", o.Kind, err)
	}
	return nil
}

// serve serves the series until ctx ends.
func (o Objects[O]) serve(ctx context.Context, c *ObjectCollector, limit int) {
	defer metricSeriesOff.DeleteLabelValues(o.Kind)
	if limit <= 0 {
		metricSeriesOff.WithLabelValues(o.Kind).Set(1)
		<-ctx.Done()
		return
	}
	defer c.add(&objectSource{func(out chan<- prometheus.Metric) { o.collect(ctx, limit, out) }})()
	<-ctx.Done()
}

func (o Objects[O]) collect(ctx context.Context, limit int, out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(ctx, collectWithin)
	defer cancel()
	objects, err := o.List(ctx)
	if err != nil { // the series of others must still be served
		if ctx.Err() == nil {
			metricLookErrors.WithLabelValues("metrics").Inc()
			log.FromContext(ctx).Error(err, "collect metrics", "kind", o.Kind)
		}
		return
	}
	if len(objects) > limit {
		metricSeriesOff.WithLabelValues(o.Kind).Set(1)
		return
	}
	metricSeriesOff.WithLabelValues(o.Kind).Set(0)
	for _, obj := range objects {
		for _, m := range o.Series(obj) {
			out <- m
		}
	}
}
