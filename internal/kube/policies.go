package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Policies looks at the admission policies of an area. The area's role must grant to list policies and bindings; for
// WatchPolicies, to create ConfigMaps in the namespace of the product, and to read and delete the one of its record.
func (e Env) Policies(area string) (read.Policies, error) {
	shipped, err := guard.ShippedFor(area, e.Namespace)
	return read.Policies{Live: e.LiveReader(), Shipped: shipped, Namespace: e.Namespace, Area: area}, err
}

// policiesEvery is how often policies are looked at, besides before every decision that needs them. Objects that
// are made between a change of them and the next look are refused.
const policiesEvery = 5 * time.Second

// WatchPolicies looks at the admission policies of an area while this process leads it: it tells by log and by the gauge
// that they are not in force, and records since when they are. The gauge is the area's own, 1 while something is wrong.
func WatchPolicies(a *Area, unguarded prometheus.Gauge) error {
	policies, err := a.Env.Policies(a.Name)
	if err != nil {
		return fmt.Errorf("read the admission policies that are shipped: %w", err)
	}
	watch := &policyWatch{policies: policies, writer: a.Env.Writer("policies"), unguarded: unguarded}
	return a.Every("admission policies", policiesEvery, watch.look)
}

// policyWatch is what is known of the policies of one area since the last look.
type policyWatch struct {
	policies  read.Policies
	writer    Writer
	unguarded prometheus.Gauge
	gap       string
}

func (w *policyWatch) look(ctx context.Context) error {
	verdict, err := w.policies.Look(ctx)
	if err != nil {
		return fmt.Errorf("look at admission policies: %w", err)
	}
	w.tell(ctx, verdict.Gap)
	if next, old, changed := verdict.Next(); changed {
		return w.record(ctx, old, next)
	}
	return nil
}

func (w *policyWatch) tell(ctx context.Context, gap string) {
	logger := log.FromContext(ctx).WithValues("area", w.policies.Area)
	if gap != "" && gap != w.gap {
		logger.Info("what users ask of this area is refused: "+gap+"; install the policies of this version again", "gap", gap)
	}
	if gap == "" && w.gap != "" {
		logger.Info("the admission policies are in force again")
	}
	w.gap = gap
	w.unguarded.Set(0)
	if gap != "" {
		w.unguarded.Set(1)
	}
}

// record stores a record in the place of another, if there is one. A new object is dated by the API server. Between the
// two there is none, which only refuses more: also what was accepted before.
func (w *policyWatch) record(ctx context.Context, old *guard.Record, next guard.Record) error {
	area, namespace := w.policies.Area, w.policies.Namespace
	record, err := next.ConfigMap(area, namespace)
	if err != nil {
		return err
	}
	if old != nil {
		was := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: guard.RecordName(area)}}
		if err := w.writer.Delete(ctx, was, Seen{UID: old.UID, ResourceVersion: old.ResourceVersion}); err != nil {
			return err
		}
	}
	return w.writer.CreateUnowned(ctx, record, &corev1.ConfigMap{}, func() bool { return true }) // the next look judges it
}
