package act

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// failover lets a replica take over. If it were wrong, what the replica lacks would be
// lost: so a primary that lives is asked, and that it does not live is believed only
// from a live read of its pod, and where nobody listened, if nobody does once more.
func (a Cluster) failover(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.Failover) error {
	mode := wire.Agreed
	if e.Proof.Forced() {
		mode = wire.Forced
		for _, pod := range e.Gone {
			if err := a.checkGone(ctx, c, pod); err != nil {
				return err
			}
		}
		for _, pod := range e.Refusing {
			if err := a.checkRefuses(ctx, c, pod); err != nil {
				return err
			}
		}
	}
	return classify(e.At.Pod, a.servers.Failover(ctx, target(e.At), mode))
}

// checkGone fails if a pod runs, or may.
func (a Cluster) checkGone(ctx context.Context, c *valkeyv1.ValkeyCluster, name string) error {
	pod, err := a.pod(ctx, c, name)
	if pod == nil {
		return err
	}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == spec.ServerContainer && s.State.Running != nil {
			return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("force a failover: the server of %s runs again", name)}
		}
	}
	return nil
}

// checkRefuses fails if somebody listens at a pod, or may. What its kubelet knows of its server is of a second ago, and
// does not count.
func (a Cluster) checkRefuses(ctx context.Context, c *valkeyv1.ValkeyCluster, name string) error {
	pod, err := a.pod(ctx, c, name)
	if pod == nil {
		return err
	}
	if !spec.ListensAlone(pod) {
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("force a failover: a proxy may refuse connections in the place of %s", name)}
	}
	if pod.Status.PodIP != "" {
		_, err = a.servers.Ask(ctx, net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(valkeyv1.ClientPort)))
	}
	if !errors.Is(err, wire.ErrConnectionRefused) {
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("force a failover: %s no longer refuses connections", name)}
	}
	return nil
}

// pod is as the API server has it in this moment, or nil if there is none.
func (a Cluster) pod(ctx context.Context, c *valkeyv1.ValkeyCluster, name string) (*corev1.Pod, error) {
	var pod corev1.Pod
	err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &pod)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", name, err)
	}
	return &pod, nil
}
