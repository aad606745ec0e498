package act

import (
	"context"
	"fmt"

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
// from a live read.
func (a Cluster) failover(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.Failover) error {
	mode := wire.Agreed
	if e.Proof.Forced() {
		mode = wire.Forced
		for _, pod := range e.Gone {
			if err := a.gone(ctx, c, pod); err != nil {
				return err
			}
		}
	}
	return classify(e.At.Pod, a.servers.Failover(ctx, target(e.At), mode))
}

func (a Cluster) gone(ctx context.Context, c *valkeyv1.ValkeyCluster, name string) error {
	var pod corev1.Pod
	err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &pod)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pod %s: %w", name, err)
	}
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == spec.ServerContainer && s.State.Running != nil {
			return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("force a failover: the server of %s runs again", name)}
		}
	}
	return nil
}
