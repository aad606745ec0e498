package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Pool performs the effects of pools.
type Pool struct {
	Writer  kube.Writer
	Cluster entry.Cluster
	Now     func() time.Time
	// Devices leads to the Flight Control of a pool.
	Devices func(context.Context, *edgev1.EdgePool) (Devices, error)
	// Bound lists all pods live, with the device that each is bound to.
	Bound func(context.Context) (map[types.UID]string, error)
}

// Act performs one effect.
func (a Pool) Act(ctx context.Context, p *edgev1.EdgePool, e fsm.Effect) (ref string, err error) {
	switch e := e.(type) {
	case pool.AddFinalizer:
		return "", a.finalizers(ctx, p, append(slices.Clone(p.Finalizers), edgev1.PoolFinalizer))
	case pool.Finish:
		return "", a.finalizers(ctx, p, slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool { return f == edgev1.PoolFinalizer }))
	case pool.RemoveEntries:
		return "", a.remove(ctx, p, e)
	case pool.NudgeDevice:
		return "", a.edit(ctx, p, e.Device, func(now fleet.Device) (fleet.Edit, error) { return pod.Nudge{At: e.At}.Edit(a.Cluster, now) })
	case pool.RemoveMark:
		return "", a.edit(ctx, p, e.Device, a.unmarked)
	}
	return "", fmt.Errorf("unknown effect %T", e)
}

func (a Pool) finalizers(ctx context.Context, p *edgev1.EdgePool, finalizers []string) error {
	is := p.DeepCopy()
	is.Finalizers = finalizers
	return a.Writer.Patch(ctx, p.DeepCopy(), is)
}

// remove takes off a device what no pod has. The pods are listed once more: one that was bound since has its application.
func (a Pool) remove(ctx context.Context, p *edgev1.EdgePool, e pool.RemoveEntries) error {
	bound, err := a.Bound(ctx)
	if err != nil {
		return err
	}
	for _, name := range e.Names {
		if uid, ours := a.Cluster.Pod(name); !ours || bound[uid] == e.Device {
			return changed(fmt.Errorf("remove %s: it has a pod", name), "What was to be removed from device "+e.Device+" belongs to a pod.")
		}
	}
	for _, name := range e.Names {
		remove := pod.Remove{Application: name, At: a.Now().Unix()}
		if err := a.edit(ctx, p, e.Device, func(now fleet.Device) (fleet.Edit, error) { return remove.Edit(a.Cluster, now) }); err != nil {
			return err
		}
	}
	return nil
}

// unmarked takes our mark off a device, unless it has something else of ours by now.
func (a Pool) unmarked(now fleet.Device) (fleet.Edit, error) {
	for _, e := range slices.Concat(now.Applications, now.Config) {
		if _, is := a.Cluster.Pod(e.Name); is {
			return fleet.Edit{}, changed(fmt.Errorf("device %s has %s", now.Name, e.Name), "Device "+now.Name+" has something else of this cluster.")
		}
	}
	return fleet.Edit{Remove: []string{a.Cluster.Nudge()}}, nil
}

func (a Pool) edit(ctx context.Context, p *edgev1.EdgePool, device string, decide func(fleet.Device) (fleet.Edit, error)) error {
	devices, err := a.Devices(ctx, p)
	if errors.Is(err, fleet.ErrDenied) {
		return sorted(device, err)
	}
	if err != nil {
		return err
	}
	return sorted(device, devices.Edit(ctx, device, decide))
}
