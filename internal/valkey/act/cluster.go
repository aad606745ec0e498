// Package act performs the effects of area valkey. It is the only package of the
// area that is handed writers.
package act

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Cluster performs the effects of a ValkeyCluster.
type Cluster struct {
	Build    spec.Builder
	Children kube.Writer
	Connect  Connector
	Live     read.Live
	Cached   read.Reader            // of the cluster itself, as often as slots are moved
	Work     *kube.Worker[struct{}] // moves slots
	Access   *kube.Worker[struct{}] // changes passwords and certificates
	// Places are taken by clusters that the operator restarts for reasons of its own.
	Places kube.Reservations
	// Marks owns nothing but the mark that a cluster was formed: under one name with
	// the rest, an apply by somebody who has not seen it yet would remove it.
	Marks kube.Writer

	servers Servers // of the cluster that is acted on
}

// Servers is what is told to servers.
type Servers interface {
	wire.Writer
	Movers
}

// Connector logs on to the servers of one cluster.
type Connector func(ctx context.Context, cluster read.Key) (Servers, error)

// errUnproven: what cannot be undone is not done without the evidence that allows it.
var errUnproven = &fsm.Error{Class: fsm.Refused, Err: errors.New("there is no proof that this may be done")}

// Act performs one effect.
func (a Cluster) Act(ctx context.Context, c *valkeyv1.ValkeyCluster, effect fsm.Effect) (string, error) {
	if known, err := a.change(ctx, c, effect); known {
		return "", err
	}
	var err error
	if a.servers, err = a.Connect(ctx, client.ObjectKeyFromObject(c)); err != nil {
		return "", fmt.Errorf("log on to servers: %w", err)
	}
	if known, err := a.operate(ctx, c, effect); known {
		return "", err
	}
	return "", a.command(ctx, effect)
}

// change changes objects of Kubernetes.
func (a Cluster) change(ctx context.Context, c *valkeyv1.ValkeyCluster, effect fsm.Effect) (known bool, err error) {
	switch e := effect.(type) {
	case cluster.ApplyChild:
		return true, a.apply(ctx, c, e)
	case cluster.MarkFormed:
		return true, a.mark(ctx, c, e.UID, true)
	case cluster.ForgetData:
		return true, a.mark(ctx, c, e.UID, false)
	case cluster.MakePasswords:
		return true, a.vault(c).make(ctx)
	case cluster.ChangePasswords:
		return true, a.vault(c).changePasswords(ctx, e.Rotation)
	case cluster.MakeUpgrade:
		return true, a.makeUpgrade(ctx, c, e)
	case cluster.BeginRestart:
		return true, a.beginRestart(ctx, c, e)
	case cluster.DeleteUpgrade:
		return true, a.deleteUpgrade(ctx, c, e)
	case cluster.DeletePod:
		return true, a.deletePod(ctx, c, e)
	case cluster.RemoveShard:
		return true, a.removeShard(ctx, c, e)
	}
	return a.changeClaim(ctx, c, effect)
}

// deletePod: if it were wrong, what the pod's server holds would be lost: so only this very
// pod in this very version goes, in which no server had run, or one that said that it has nothing, or that a person gave up.
func (a Cluster) deletePod(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.DeletePod) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: e.Name}}
	return a.Children.Delete(ctx, pod, kube.Seen{UID: types.UID(e.UID), ResourceVersion: e.Version})
}

// removeShard: if it were wrong, the data of a shard would be lost: so only this very
// StatefulSet in this very version goes, in whose pods nothing was seen. That it is the one is
// looked at before its claims are released.
func (a Cluster) removeShard(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.RemoveShard) error {
	if e.Proof == nil {
		return fmt.Errorf("%s: %w", e, errUnproven)
	}
	set := &appsv1.StatefulSet{}
	switch err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: e.Child.Name}, set); {
	case read.SaysGone(err, e.Child.Name):
		return a.releaseClaims(ctx, c, e.Shard, 0)
	case err != nil:
		return kube.Classify(fmt.Errorf("read StatefulSet: %w", err))
	case string(set.UID) != e.UID || set.ResourceVersion != e.Version:
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("remove StatefulSet %s: it was changed since", e.Child.Name)}
	}
	if err := a.releaseClaims(ctx, c, e.Shard, 0); err != nil {
		return err
	}
	return a.Children.Delete(ctx, set, kube.Seen{UID: types.UID(e.UID), ResourceVersion: e.Version})
}

// operate does with servers what takes more than one command.
func (a Cluster) operate(ctx context.Context, c *valkeyv1.ValkeyCluster, effect fsm.Effect) (known bool, err error) {
	switch e := effect.(type) {
	case cluster.ApplyAccess:
		return true, a.applyAccess(c, e)
	case cluster.ApplySettings:
		return true, a.applySettings(c, e)
	case cluster.MoveSlots:
		return true, a.moveSlots(client.ObjectKeyFromObject(c), e)
	case cluster.Failover:
		if e.Proof == nil || !e.Proof.Of(plan.Server(e.At.ID)) {
			return true, fmt.Errorf("%s: %w", e, errUnproven)
		}
		return true, a.failover(ctx, c, e)
	}
	return false, nil
}

// command gives a command to servers.
func (a Cluster) command(ctx context.Context, effect fsm.Effect) error {
	switch e := effect.(type) {
	case cluster.Meet:
		return a.meet(ctx, e)
	case cluster.AddSlots:
		return classify(e.At.Pod, a.servers.AddSlots(ctx, target(e.At), e.Slots))
	case cluster.SetNodeTimeout:
		return a.setNodeTimeout(ctx, e)
	case cluster.Replicate:
		return classify(e.At.Pod, a.servers.Replicate(ctx, target(e.At), e.Primary.ID))
	case cluster.Reset:
		return classify(e.At.Pod, a.servers.Reset(ctx, target(e.At), false))
	case cluster.Forget:
		return a.forget(ctx, e)
	case cluster.RaiseEpoch:
		return a.raiseEpoch(ctx, e)
	case cluster.ForgetSlotOwner:
		if e.Proof == nil || !e.Proof.Of(plan.Server(e.ID)) {
			return fmt.Errorf("%s: %w", e, errUnproven)
		}
		return each(e.At, func(m cluster.Member) error { return classify(m.Pod, a.servers.ForgetSlotOwner(ctx, target(m), e.ID)) })
	}
	return fmt.Errorf("unknown effect %s", effect)
}

func (a Cluster) apply(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.ApplyChild) error {
	for _, child := range a.Build.Children(c, e.Shard+1) {
		if e.Child.Kind != spec.KindOf(child) || e.Child.Name != child.GetName() {
			continue
		}
		if _, is := child.(*appsv1.StatefulSet); is {
			return a.applyShard(ctx, c, e)
		}
		if budget, is := child.(*policyv1.PodDisruptionBudget); is && e.Template == cluster.Closed {
			spec.Close(budget)
		}
		if config, is := child.(*corev1.ConfigMap); is && e.Keep {
			if err := a.keepSettings(ctx, config); err != nil {
				return err
			}
		}
		return a.Children.Apply(ctx, child, types.UID(e.UID))
	}
	return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply %s: the spec does not ask for it any more", e.Child)}
}

func (a Cluster) applyShard(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.ApplyChild) error {
	s, err := a.shard(ctx, c, e)
	if err != nil {
		return err
	}
	s.Spec.Replicas = ptr.To(int32(1 + e.Replicas)) //nolint:gosec // at most 6
	if e.Proof != nil {
		if err := a.releaseClaims(ctx, c, e.Shard, 1+e.Replicas); err != nil {
			return err
		}
	}
	return a.Children.Apply(ctx, s, types.UID(e.UID))
}

// mark lets the ConfigMap bear the mark that the cluster was formed, or none.
func (a Cluster) mark(ctx context.Context, c *valkeyv1.ValkeyCluster, uid string, formed bool) error {
	bearer := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: spec.EndpointName(c)}}
	if formed {
		bearer.Annotations = map[string]string{valkeyv1.FormedAnnotation: "true"}
		bearer.Data = map[string]string{spec.FormedFile: "true\n"} // pods see it, too
	}
	return a.Marks.Apply(ctx, bearer, types.UID(uid))
}
