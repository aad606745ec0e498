package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Pod reads the World of a pod.
type Pod struct {
	Sites   Sites
	Live    read.Live
	Connect Connect
	Cluster entry.Cluster
	// Last is the last sweep of a pool.
	Last func(read.Key) Sweep
	Now  func() time.Time
}

// Observe reads from the last sweep of the pool; live only what a decision needs that cannot be undone, or that follows an edit of ours.
func (o Pod) Observe(ctx context.Context, p *pod.Pod) (pod.World, error) {
	site, is, err := o.Sites.Of(ctx, p)
	if err != nil || !is {
		return pod.World{}, err
	}
	sweep := o.Last(read.Key{Name: site.Pool.Name})
	if !sweep.Of(site.Pool) {
		return pod.World{}, nil
	}
	r := pod.Reading{
		Cluster: o.Cluster, Pod: &p.Pod, Device: sweep.Devices[site.ID.Device], Others: site.Others, Blind: sweep.Blind,
		PlaceTimeout: site.Pool.Spec.PlaceTimeout.Duration,
	}
	if p.DeletionTimestamp == nil { // nothing is sent any more of one that is to be deleted
		from, err := Sources(ctx, o.Live, &p.Pod)
		if err != nil {
			return pod.World{}, err
		}
		r.Conversion = spec.Build(&p.Pod, o.Cluster, from)
	}
	if !r.Blind {
		if err := o.live(ctx, site, p, &r); err != nil {
			return pod.World{}, err
		}
	}
	return r.World(), nil
}

// live reads the device as it is. Of a pod that is to be deleted that shows whether its application is gone; of one that is being
// sent, or was sent and is not in the spec that was swept, whether it is in the spec: the sweep may be older than our edit. What was
// rendered is read after the device itself.
func (o Pod) live(ctx context.Context, site Site, p *pod.Pod, r *pod.Reading) error {
	deleted := p.DeletionTimestamp != nil
	rendered := deleted || p.NeedsRendered()
	if !rendered && p.Progress.Phase != pod.Sending && (!p.WasSent() || r.World().Sent()) {
		return o.lastSeen(ctx, site, r)
	}
	f, err := o.Connect(ctx, site.Pool)
	if errors.Is(err, fleet.ErrDenied) {
		r.Blind = true
		return nil
	}
	if err != nil {
		return err
	}
	if r.Device, err = see(ctx, f, site.ID.Device); err == nil && rendered && r.Device.Sight == presence.Here {
		err = readRendered(ctx, f, site.ID.Device, r)
	}
	o.unread(err, r)
	return nil
}

func readRendered(ctx context.Context, f Fleet, name string, r *pod.Reading) error {
	is, err := f.Rendered(ctx, name)
	if errors.Is(err, fleet.ErrNotRendered) || errors.Is(err, fleet.ErrGone) {
		return nil
	}
	if err == nil {
		r.Rendered = &is
	}
	return err
}

// unread: what could not be read live is not known, though it was by the last sweep.
func (o Pod) unread(why error, r *pod.Reading) {
	if why == nil {
		return
	}
	if access, err := accessOf(pool.Access{}, why, o.Now()); err == nil && access.State != pool.Unreachable {
		r.Blind = true
		return
	}
	r.Device, r.Rendered = device.Seen{}, nil // not looked, and looked at again
}

// lastSeen asks when a device that is not heard was heard last, which is for the words alone, and once.
func (o Pod) lastSeen(ctx context.Context, site Site, r *pod.Reading) error {
	if row := device.Of(o.Cluster, r.Device); row.State != device.Silent {
		return nil
	}
	f, err := o.Connect(ctx, site.Pool)
	if err != nil {
		return nil //nolint:nilerr // the words do without it
	}
	at, is, err := f.LastSeen(ctx, site.ID.Device)
	if err != nil {
		return nil //nolint:nilerr // the words do without it
	}
	if is {
		r.LastSeen = at
	}
	return nil
}

// Conversion is the pod as its device gets it.
func (o Pod) Conversion(ctx context.Context, p *pod.Pod) (spec.Conversion, error) {
	from, err := Sources(ctx, o.Live, &p.Pod)
	if err != nil {
		return spec.Conversion{}, fmt.Errorf("read what pod %s/%s needs: %w", p.Namespace, p.Name, err)
	}
	return spec.Build(&p.Pod, o.Cluster, from), nil
}
