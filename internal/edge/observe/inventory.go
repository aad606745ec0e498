package observe

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// inventory compares what is on the devices with the pods of the cluster, by a live list. That list is used again for a while, but
// not to say of anything that no pod has it.
func (s Sweeper) inventory(ctx context.Context, p *edgev1.EdgePool, was Sweep, out *Sweep) error {
	var devices []fleet.Device
	for _, seen := range out.Devices {
		if seen.Sight == presence.Here {
			devices = append(devices, seen.Device)
		}
	}
	now := s.Now()
	if age := now.Sub(was.BoundAt); !was.BoundAt.IsZero() && age >= 0 && age < boundFor && p.DeletionTimestamp == nil {
		out.Pods, out.BoundAt = was.Pods, was.BoundAt
		out.Inventory = pool.TakeInventory(s.Cluster, devices, DevicesOf(out.Pods), was.Inventory.Orphans, now)
		if len(out.Inventory.Orphans) == 0 {
			return nil
		}
	}
	bound, err := BoundPods(ctx, s.Live)
	if err != nil {
		return err
	}
	out.Pods, out.BoundAt = bound, now
	out.Inventory = pool.TakeInventory(s.Cluster, devices, DevicesOf(bound), was.Inventory.Orphans, now)
	return nil
}

// DevicesOf are the devices of pods.
func DevicesOf(pods map[types.UID]Bound) map[types.UID]string {
	out := make(map[types.UID]string, len(pods))
	for uid, b := range pods {
		out[uid] = b.Device
	}
	return out
}

// page is how many pods are listed at once.
const page = 500

// BoundPods lists the pods of the whole cluster live, and keeps those that are bound to a device.
func BoundPods(ctx context.Context, live read.Live) (map[types.UID]Bound, error) {
	bound := map[types.UID]Bound{}
	for next := ""; ; {
		var list corev1.PodList
		if err := live.List(ctx, &list, read.Limit(page), read.Continue(next)); err != nil {
			return nil, fmt.Errorf("list all pods: %w", err)
		}
		for i := range list.Items {
			pod := &list.Items[i]
			if device, is := strings.CutPrefix(pod.Spec.NodeName, node.NamePrefix); is {
				bound[pod.UID] = Bound{Pod: pod.Namespace + "/" + pod.Name, Device: device}
			}
		}
		if next = list.Continue; next == "" {
			return bound, nil
		}
	}
}
