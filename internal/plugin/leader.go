package plugin

import (
	"cmp"
	"context"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// elections are the Leases by which the managers of an area elect leaders, as far as they were seen.
type elections struct {
	area   areas.Area
	asked  string // namespace/name of the Lease that was looked for first
	leases []coordinationv1.Lease
	hidden bool // not all may be seen
}

// elections looks where Statecraft is said to be installed, or where it usually is. Unless the
// Lease there leads, it looks for Leases of shards; and, if nobody said where Statecraft is, in all
// namespaces, because a Lease stays where it was when Statecraft is moved.
func (r *Reader) elections(ctx context.Context, area areas.Area) elections {
	namespace, name := cmp.Or(r.System, config.Namespace), area.Lease()
	e := elections{area: area, asked: namespace + "/" + name}
	lease, err := r.typed.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil && leaderBy(*lease).Leads(r.now()):
		e.leases = append(e.leases, *lease)
		return e
	case err == nil:
		e.leases = append(e.leases, *lease)
	case !apierrors.IsNotFound(err):
		e.hidden = true
	}
	for _, where := range []string{namespace, metav1.NamespaceAll} {
		if e.lead(r.now()) || where == metav1.NamespaceAll && r.System != "" {
			break
		}
		found, err := r.leasesOf(ctx, area, where)
		e.hidden = err != nil
		e.leases = append(e.leases, found...)
	}
	e.hidden = e.hidden && (r.System == "" || len(e.leases) == 0)
	return e
}

// lead says that all that were seen do so.
func (e elections) lead(now time.Time) bool {
	idle := func(l coordinationv1.Lease) bool { return !leaderBy(l).Leads(now) }
	return len(e.leases) > 0 && !slices.ContainsFunc(e.leases, idle)
}

// leasesOf are the election Leases of the area in a namespace, or in all.
func (r *Reader) leasesOf(ctx context.Context, area areas.Area, namespace string) (all []coordinationv1.Lease, err error) {
	leases, err := r.leases(ctx, namespace)
	for _, l := range leases {
		if area.Elects(l.Name) {
			all = append(all, l)
		}
	}
	return all, err
}

// of is the election that decides who acts upon an object: one that has a leader, or else the one
// that had one last.
func (e elections) of(obj *unstructured.Unstructured, now time.Time) explain.Leader {
	best := explain.Leader{Lease: e.asked, Hidden: e.hidden}
	for _, lease := range e.leases {
		if !e.area.LeaseOf(lease.Name, read.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}) {
			continue
		}
		l := leaderBy(lease)
		l.Hidden = e.hidden
		leads, better := l.Leads(now), l.Renewed.After(best.Renewed)
		if !best.Found || leads && !best.Leads(now) || better && leads == best.Leads(now) {
			best = l
		}
	}
	return best
}

// leaderBy is what a Lease says.
func leaderBy(lease coordinationv1.Lease) explain.Leader {
	l := explain.Leader{
		Found: true, Lease: lease.Namespace + "/" + lease.Name, Holder: ptr.Deref(lease.Spec.HolderIdentity, ""),
		Duration: time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second,
	}
	if lease.Spec.RenewTime != nil {
		l.Renewed = lease.Spec.RenewTime.Time
	}
	return l
}
