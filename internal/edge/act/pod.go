package act

import (
	"context"
	"errors"
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Devices edits devices of one Flight Control. The edit is decided upon for the device as it is in the read before.
type Devices interface {
	Edit(ctx context.Context, device string, decide func(fleet.Device) (fleet.Edit, error)) error
}

// Site is where a pod belongs: the device of its Node, and what its pool knows of it at this moment.
type Site struct {
	Devices Devices
	Device  string
	// Others are the pods of the device, with how far they are.
	Others []*pod.Pod
	// Build converts the pod. It reads ConfigMaps and Secrets, so it is asked only when the pod is sent, and what it returns is
	// kept nowhere.
	Build func(context.Context) (spec.Conversion, error)
}

// Pod performs the effects of pods.
type Pod struct {
	Writer  kube.Writer
	Cluster entry.Cluster
	// Site finds where a pod belongs, by the providerID of its Node.
	Site func(context.Context, *pod.Pod) (Site, error)
}

// Act performs one effect.
func (a Pod) Act(ctx context.Context, p *pod.Pod, e fsm.Effect) (ref string, err error) {
	if e, is := e.(pod.Release); is { // whatever has become of the device since
		return "", a.Writer.Release(ctx, p.Carrier(), kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	}
	site, err := a.Site(ctx, p)
	if errors.Is(err, fleet.ErrDenied) { // the credentials are not there
		err = sorted(site.Device, err)
	}
	if err != nil {
		return "", err
	}
	switch e := e.(type) {
	case pod.Send:
		return "", a.send(ctx, site, e)
	case pod.Remove:
		return "", site.edit(ctx, func(now fleet.Device) (fleet.Edit, error) { return e.Edit(a.Cluster, now) })
	case pod.Nudge:
		return "", site.edit(ctx, func(now fleet.Device) (fleet.Edit, error) { return e.Edit(a.Cluster, now) })
	}
	return "", fmt.Errorf("unknown effect %T", e)
}

func (a Pod) send(ctx context.Context, site Site, e pod.Send) error {
	built, err := site.Build(ctx)
	if err != nil {
		return err
	}
	return site.edit(ctx, func(now fleet.Device) (fleet.Edit, error) { return e.Edit(a.Cluster, now, built, site.Others) })
}

func (s Site) edit(ctx context.Context, decide func(fleet.Device) (fleet.Edit, error)) error {
	return sorted(s.Device, s.Devices.Edit(ctx, s.Device, decide))
}
