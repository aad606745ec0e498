package observe

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/podstate/diagnosis"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// nodes joins every place there should be with the pod that is there and with what
// answers at its address.
func (o Cluster) nodes(ctx context.Context, c *valkeyv1.ValkeyCluster, of record) (topology.Nodes, error) {
	pods, err := podsOf(ctx, o.Cached, read.Key{Namespace: c.Namespace, Name: c.Name})
	if err != nil {
		return nil, err
	}
	byName := map[string]*corev1.Pod{}
	for i := range pods {
		byName[pods[i].Name] = &pods[i]
	}
	answers, err := o.answers(ctx, c, pods)
	if err != nil {
		return nil, err
	}
	unlabelled, err := o.unlabelledPods(ctx, c, of, byName)
	if err != nil {
		return nil, err
	}
	nodes := make(topology.Nodes, 0, of.shape.Nodes())
	for i, replicas := range of.shape {
		shard := of.shards[spec.ShardName(c, i)]
		for j := range 1 + replicas {
			n := topology.Node{Pod: topology.Pod{Name: spec.PodName(c, i, j), Shard: i, Ordinal: j}}
			if p := cmp.Or(byName[n.Name], unlabelled[n.Name]); p == nil || !belongs(p, of, c, i) {
				n.Stray = unlabelled[n.Name] != nil
			} else if n, err = o.node(ctx, n, p, shard, answers); err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		}
	}
	o.explainMissingPods(ctx, c, of, nodes)
	return nodes, nil
}

// belongs says that a pod is one of its shard: that its StatefulSet controls it, or will. A pod that lost its StatefulSet
// runs on, and whoever took its server for gone would promote a replica beside it.
func belongs(p *corev1.Pod, of record, c *valkeyv1.ValkeyCluster, shard int) bool {
	s, by := of.shards[spec.ShardName(c, shard)], metav1.GetControllerOf(p)
	labelled := p.Labels[valkeyv1.ClusterLabel] == c.Name && p.Labels[valkeyv1.ShardLabel] == strconv.Itoa(shard)
	switch {
	case s != nil && child.OwnedBy(p, s.UID):
		return true
	case !of.formed || !labelled:
		return false
	case by == nil: // it is adopted
		return true
	}
	return s == nil && by.Kind == cluster.KindStatefulSet && by.Name == spec.ShardName(c, shard)
}

// node is a pod of a shard and what answers at its address.
func (o Cluster) node(ctx context.Context, n topology.Node, p *corev1.Pod, shard *appsv1.StatefulSet, answers Answers) (topology.Node, error) {
	n.Pod = podFacts(n.Pod, p)
	n.Server, n.Stranger = answers.of(p)
	n.Refused = answers.Refused[n.Addr] && spec.ListensAlone(p) && !o.AwaitKubelet
	if shard == nil {
		return n, nil
	}
	outdated, err := o.outdated(ctx, p, shard)
	n.Outdated = outdated
	return n, err
}

// answers are what servers say, by address. That none of them answers, or none can be asked,
// although kubelets find them ready, says nothing about the servers: then nothing is known, and
// what was known before is not passed off as what is.
func (o Cluster) answers(ctx context.Context, c *valkeyv1.ValkeyCluster, pods []corev1.Pod) (Answers, error) {
	key := read.Key{Namespace: c.Namespace, Name: c.Name}
	sample := o.Servers.Fresh(ctx, key, o.howYoung(c, pods))
	if len(sample.Value.Refused) > 0 { // who refuses may be passed by, so what it is judged by is of this moment
		sample = o.Servers.Fresh(ctx, key, youngWhileMaking)
	}
	ready := 0
	for i := range pods {
		if podFacts(topology.Pod{}, &pods[i]).Ready {
			ready++
		}
	}
	if ready == 0 { // before there are any, they cannot always be asked
		if sample.Err != nil {
			sample.Value = Answers{}
		}
		return sample.Value, nil
	}
	switch {
	case sample.Err != nil:
		return Answers{}, fmt.Errorf("ask servers: %w", sample.Err)
	case len(sample.Value.Servers) == 0:
		return Answers{}, fmt.Errorf("ask servers: %d pods are ready and none of them answers; the manager must reach port %d of pods", ready, valkeyv1.ClientPort)
	}
	return sample.Value, nil
}

// howYoung is how old what the servers said may be.
func (o Cluster) howYoung(c *valkeyv1.ValkeyCluster, pods []corev1.Pod) time.Duration {
	switch {
	case o.young > 0:
		return o.young
	case o.migration(read.Key{Namespace: c.Namespace, Name: c.Name}) == cluster.Ended && moving(c.Status.Phase):
		return never // what was seen before the work ended would only begin it again
	case making(c.Status.Phase) || c.Status.Phase == cluster.Degraded || slices.ContainsFunc(pods, amiss):
		return youngWhileMaking
	case c.Status.CurrentOperation == valkeyv1.OperationUpgrading: // roles change, and a replica may be about to go
		return youngWhileMaking
	}
	return youngAtRest
}

// amiss says that something happened to a pod: what its server said before says nothing.
func amiss(p corev1.Pod) bool {
	facts := podFacts(topology.Pod{}, &p)
	return !facts.Ready || facts.Ended
}

// outdated says that the StatefulSet would make the pod otherwise by now. Of a pod that
// has not started, and so might be deleted for it, that is believed only from a live
// read: a cache may know of the pod and not yet of the revision that made it.
func (o Cluster) outdated(ctx context.Context, p *corev1.Pod, shard *appsv1.StatefulSet) (bool, error) {
	differs := func(s *appsv1.StatefulSet) bool {
		return s.Status.UpdateRevision != "" && s.Status.ObservedGeneration >= s.Generation &&
			p.Labels[appsv1.ControllerRevisionHashLabelKey] != s.Status.UpdateRevision
	}
	if !differs(shard) || !neverRan(p) {
		return differs(shard), nil
	}
	var live appsv1.StatefulSet
	err := o.Live.Get(ctx, read.Key{Namespace: shard.Namespace, Name: shard.Name}, &live)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read StatefulSet: %w", err)
	}
	return live.UID == shard.UID && differs(&live), nil
}

// podsOf lists the pods that bear the name of a cluster.
func podsOf(ctx context.Context, cached read.Reader, key read.Key) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := cached.List(ctx, &pods, read.InNamespace(key.Namespace), read.Fields{ByCluster: key.Name})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	return pods.Items, nil
}

func podFacts(at topology.Pod, p *corev1.Pod) topology.Pod {
	at.UID, at.Addr, at.Host, at.Trouble = string(p.UID), addrOf(p), p.Spec.NodeName, diagnosis.Of(p)
	at.Version, at.NeverRan = p.ResourceVersion, neverRan(p)
	if over := ended(p); over != nil {
		at.Ended, at.EndedAt, at.DataMissing = true, max(0, over.FinishedAt.Unix()), over.ExitCode == topology.ExitDataMissing
	}
	at.Leaving = p.DeletionTimestamp != nil
	for _, c := range p.Spec.Containers {
		if c.Name == spec.ServerContainer {
			at.Image = c.Image
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			at.Ready = c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil
		}
	}
	return at
}

// addrOf is where the pod's server listens, or "" while it cannot.
func addrOf(p *corev1.Pod) string {
	if p.Status.PodIP == "" || p.Status.Phase != corev1.PodRunning {
		return ""
	}
	return net.JoinHostPort(p.Status.PodIP, strconv.Itoa(valkeyv1.ClientPort))
}

// neverRan says that the server of the pod has never run. What nobody reports on has
// not been started by anybody.
func neverRan(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		ran := c.RestartCount > 0 || c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil
		if c.Name == spec.ServerContainer && ran {
			return false
		}
	}
	return p.Status.Phase == corev1.PodPending
}

// ended is how the server of the pod ended, if it is known not to run: its container has
// ended, and no other was started since.
func ended(p *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name != spec.ServerContainer || c.State.Running != nil {
			continue
		}
		return cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
	}
	return nil
}
