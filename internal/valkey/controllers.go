package valkey

import (
	"context"
	"fmt"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/act"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// Parts is what the controllers of the area share.
type Parts struct {
	Build     spec.Builder
	Connector Connector
	Sampler   *Sampler
	Monitor   *observe.PrimaryMonitor
	Failovers *observe.Failovers     // nil: nobody counts
	Work      *kube.Worker[struct{}] // moves slots
	Access    *kube.Worker[struct{}] // changes passwords, certificates and settings
	Restarts  int                    // how many clusters are restarted at a time for reasons of the operator's own
	// AwaitKubelet says that a refused connection proves nothing.
	AwaitKubelet bool
}

// A pass mostly waits for servers to answer. Those that do not answer take seconds, and are
// kept to a few places.
const (
	passes     = 24
	slowPasses = 6
)

// NewUpgrade builds the controller of ValkeyUpgrades.
func NewUpgrade(e kube.Env, p Parts) *kube.Reconciler[*valkeyv1.ValkeyUpgrade, upgrade.World] {
	r := kube.NewReconciler(e, &upgrade.Machine)
	r.Limits.Workers, r.Limits.Slow = passes, slowPasses
	r.Observe = observe.Upgrade{
		Cached: e.Cached(), Live: e.LiveReader(), Reservations: e.Reservations().Reservations, Servers: p.Sampler,
		Template: func(c *valkeyv1.ValkeyCluster, u *valkeyv1.ValkeyUpgrade) string {
			return p.Build.TemplateName(c, spec.VariantOf(c, u.Spec.Image, string(u.UID)))
		},
	}.Observe
	r.Act = func(ctx context.Context, u *valkeyv1.ValkeyUpgrade, effect fsm.Effect) (string, error) {
		servers, err := p.Connector.Connect(ctx, read.Key{Namespace: u.Namespace, Name: u.Spec.ClusterRef.Name})
		if err != nil {
			return "", fmt.Errorf("log on to servers: %w", err)
		}
		return act.Upgrade{Pods: e.Writer("valkeyupgrade"), Servers: servers, Live: e.LiveReader()}.Act(ctx, u, effect)
	}
	return r
}

// applies is the name of the controller that applies the children of clusters.
const applies = "valkeycluster"

// NewCluster builds the controller of ValkeyClusters.
func NewCluster(e kube.Env, p Parts) *kube.Reconciler[*valkeyv1.ValkeyCluster, cluster.World] {
	r := kube.NewReconciler(e, &cluster.Machine)
	r.Limits.Workers, r.Limits.Slow = passes, slowPasses
	r.Observe = observe.Cluster{
		Build: p.Build, Cached: e.Cached(), Live: e.LiveReader(), Reservations: e.Reservations().Reservations,
		Servers: p.Sampler, Children: e.Children(applies, spec.Stamp), Work: p.Work, Access: p.Access, Restarts: p.Restarts, AwaitKubelet: p.AwaitKubelet,
	}.Observe
	connect := func(ctx context.Context, key read.Key) (act.Servers, error) { return p.Connector.Connect(ctx, key) }
	r.Act = act.Cluster{
		Build: p.Build, Children: e.Writer(applies), Marks: e.Writer("valkeycluster-formed"),
		Connect: connect, Live: e.LiveReader(), Cached: e.Cached(), Work: p.Work, Access: p.Access,
		Places: e.Reservations(),
	}.Act
	r.AfterPass = p.after
	return r
}

// after a pass servers are asked as often as its end calls for, and work goes on beside the
// passes, unless the cluster is gone or paused: it may stop after any step, and goes on from
// there.
func (p Parts) after(key read.Key, c *valkeyv1.ValkeyCluster, found bool) {
	if !found || c.Spec.Paused {
		p.Work.Forget(key)
		p.Access.Forget(key)
		p.Access.Forget(cluster.SettingsWork(key))
	}
	if !found {
		p.Sampler.Every(key, 0)
		p.Monitor.SetPrimaries(key, nil)
		p.Failovers.Forget(key)
		p.Connector.Forget(key)
		return
	}
	every := observe.Every(c.Status.Phase, cluster.Wanted(c).Nodes())
	if c.Status.CurrentOperation == valkeyv1.OperationUpgrading {
		every = min(every, observe.EveryWhileMoving) // pods come and go
	}
	p.Sampler.Every(key, every)
}
