package kube

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Series that every object with a machine has, but one-shots that ended well, and what is quiet while it is ready.
var (
	objectLabels = []string{"kind", "namespace", "name"}

	descInfo = prometheus.NewDesc("statecraft_object_info",
		"1 for each object: its phase, what the phase means, and the status of its condition Ready.",
		[]string{"kind", "namespace", "name", "phase", "class", "ready"}, nil)
	descPhaseSince = prometheus.NewDesc("statecraft_object_phase_timestamp_seconds",
		"When the object entered its phase.", objectLabels, nil)
	descDeadline = prometheus.NewDesc("statecraft_object_deadline_timestamp_seconds",
		"When the phase is given up; absent without a deadline, and while a hold stops the clock.", objectLabels, nil)
	descFailures = prometheus.NewDesc("statecraft_object_failures",
		"How often in a row the steps of the phase have failed; absent while a hold keeps them from being tried.", objectLabels, nil)
	descAvailable = prometheus.NewDesc("statecraft_object_available",
		"Whether the object does for others what it is for: 1 or 0, of kinds that have a condition Available.", objectLabels, nil)

	metricObjects = NewObjectCollector(descInfo, descPhaseSince, descDeadline, descFailures, descAvailable)
)

// metricSeriesOff is that of every ObjectCollector.
var metricSeriesOff = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "statecraft_object_series_off",
	Help: "1 while there are more objects of a kind than --metrics-objects, or that is 0, so that none of them has series of its own."},
	[]string{"kind"})

// standing is an object and how far it is, wherever that is kept.
type standing struct {
	read.Key
	progress *meta.Progress
}

// progressKeeper is a Store that keeps the progress elsewhere than in a status.
type progressKeeper interface {
	progressOf(client.Object) *meta.Progress
}

// carrying is a Store whose machine sees other objects than the API server has.
type carrying[T any] interface {
	carried(client.Object) (T, bool)
}

// concerns asks Concerns of an object as it is cached. It only looks: an object of the cache is not a copy.
func (r *Reconciler[T, W]) concerns(obj client.Object) bool {
	if r.Concerns == nil {
		return true
	}
	seen, is := obj.(T)
	if store, carries := r.Store.(carrying[T]); carries {
		seen, is = store.carried(obj)
	}
	return is && r.Concerns(seen)
}

// collectObjects serves the series of the objects that a reconciler runs over.
func collectObjects[T Object[T], W any](a *Area, r *Reconciler[T, W]) error {
	if r.Store.Watched() == nil { // the API server does not have them
		return nil
	}
	return Collect(a, metricObjects, objectsOf(a.Env, r))
}

func objectsOf[T Object[T], W any](e Env, r *Reconciler[T, W]) Objects[standing] {
	progressOf := func(obj client.Object) *meta.Progress { return obj.(T).GetProgress() }
	if keeper, is := r.Store.(progressKeeper); is {
		progressOf = keeper.progressOf
	}
	return Objects[standing]{
		Kind: r.Machine.Kind,
		List: func(ctx context.Context) (list []standing, err error) {
			err = e.EachCached(ctx, r.Store.Watched(), func(obj client.Object) {
				if !r.concerns(obj) {
					return
				}
				p := progressOf(obj)
				quiet := r.QuietWhileReady != nil && r.QuietWhileReady(keyOf(obj)) && apimeta.IsStatusConditionTrue(p.Conditions, fsm.Ready)
				if !quiet && !endedWell(r.Machine, p.Phase) {
					list = append(list, standing{keyOf(obj), p})
				}
			})
			return list, err
		},
		Series: func(s standing) []prometheus.Metric {
			return s.series(r.Machine.Kind, r.Trace.classOf(s.progress.Phase))
		},
	}
}

// endedWell says that there is nothing to tell of a one-shot any more: thousands of them may be kept.
func endedWell[T Object[T], W any](m *fsm.Machine[T, W], phase fsm.Phase) bool {
	return m.OneShot && m.Phases[phase].Class == fsm.Done
}

func (s standing) series(kind string, class fsm.Class) []prometheus.Metric {
	p := s.progress
	gauge := func(desc *prometheus.Desc, value float64) prometheus.Metric {
		return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, kind, s.Namespace, s.Name)
	}
	ready := ""
	if c := apimeta.FindStatusCondition(p.Conditions, fsm.Ready); c != nil {
		ready = string(c.Status)
	}
	list := append(make([]prometheus.Metric, 0, 5),
		prometheus.MustNewConstMetric(descInfo, prometheus.GaugeValue, 1, kind, s.Namespace, s.Name, string(p.Phase), string(class), ready))
	if p.HeldSince == nil {
		list = append(list, gauge(descFailures, float64(p.Failures)))
	}
	if !p.Since.IsZero() {
		list = append(list, gauge(descPhaseSince, seconds(p.Since)))
	}
	if p.Deadline != nil && p.HeldSince == nil {
		list = append(list, gauge(descDeadline, seconds(*p.Deadline)))
	}
	switch c := apimeta.FindStatusCondition(p.Conditions, available); {
	case c == nil:
	case c.Status == metav1.ConditionTrue:
		list = append(list, gauge(descAvailable, 1))
	case c.Status == metav1.ConditionFalse:
		list = append(list, gauge(descAvailable, 0))
	}
	return list
}

func seconds(t metav1.Time) float64 { return float64(t.Unix()) }

// EachCached goes through the objects of a cached kind that this process works on. They are those
// of the cache and not copies: nothing may be written to them.
func (e Env) EachCached(ctx context.Context, kind client.Object, tell func(client.Object)) error {
	scheme := e.Client.Scheme()
	gvk, err := apiutil.GVKForObject(kind, scheme)
	if err != nil {
		return fmt.Errorf("find the kind of %T: %w", kind, err)
	}
	gvk.Kind += "List"
	made, err := scheme.New(gvk)
	if err != nil {
		return fmt.Errorf("make a list of %T: %w", kind, err)
	}
	list, is := made.(client.ObjectList)
	if !is {
		return fmt.Errorf("%T is no list of objects", made)
	}
	if err := e.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list %T: %w", kind, err)
	}
	return apimeta.EachListItem(list, func(item runtime.Object) error {
		if obj, is := item.(client.Object); is && e.Shard.has(obj) {
			tell(obj)
		}
		return nil
	})
}
