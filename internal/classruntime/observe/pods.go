package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/podstate/diagnosis"
)

// podsByOwner are the pods that bear the name of the class, by the UID of the Deployment that made them.
type podsByOwner map[string][]class.Pod

func (p podsByOwner) of(d *appsv1.Deployment) []class.Pod { return p[string(d.UID)] }

// pods counts a pod only through the chain of its owners: a label can be had by anyone.
func (o Class) pods(ctx context.Context, c *runtimev1.ClassRuntime) (podsByOwner, error) {
	var sets appsv1.ReplicaSetList
	if err := o.Cached.List(ctx, &sets, read.InNamespace(c.Namespace), read.Fields{ByClass: c.Name}); err != nil {
		return nil, fmt.Errorf("list ReplicaSets: %w", err)
	}
	deployments := map[string]string{}
	for i := range sets.Items {
		deployments[string(sets.Items[i].UID)] = ownerOf(&sets.Items[i])
	}
	var list corev1.PodList
	if err := o.Cached.List(ctx, &list, read.InNamespace(c.Namespace), read.Fields{ByClass: c.Name}); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := podsByOwner{}
	for i := range list.Items {
		if d := deployments[ownerOf(&list.Items[i])]; d != "" {
			pods[d] = append(pods[d], podOf(&list.Items[i]))
		}
	}
	for _, of := range pods {
		slices.SortFunc(of, func(a, b class.Pod) int { return strings.Compare(a.Name, b.Name) })
	}
	return pods, nil
}

// podOf is what is known of a pod.
func podOf(p *corev1.Pod) class.Pod {
	is := class.Pod{
		Name: p.Name, Leaving: p.DeletionTimestamp != nil, Since: p.CreationTimestamp.Unix(), Trouble: diagnosis.Of(p), Crash: crashOf(p),
		Ended: p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded,
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			is.Ready = c.Status == corev1.ConditionTrue
			if !c.LastTransitionTime.IsZero() {
				is.Since = c.LastTransitionTime.Unix()
			}
		}
	}
	return is
}

// crashOf is how the container ended that crashes again and again: of those that were restarted often the one that ended last, for
// counts are for life, and one of them may have been quiet for months. Without such a one it is that which was restarted most often.
func crashOf(p *corev1.Pod) (worst class.Crash) {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		last := c.LastTerminationState.Terminated
		if c.State.Terminated != nil {
			last = c.State.Terminated
		}
		if last == nil || c.RestartCount == 0 {
			continue
		}
		is := class.Crash{Container: c.Name, Restarts: c.RestartCount, Started: last.StartedAt.Unix(), Ended: last.FinishedAt.Unix(), Exit: last.ExitCode}
		if often := is.Restarts >= class.ManyRestarts; often && worst.Restarts >= class.ManyRestarts && is.Ended > worst.Ended ||
			(!often || worst.Restarts < class.ManyRestarts) && is.Restarts > worst.Restarts {
			worst = is
		}
	}
	return worst
}
