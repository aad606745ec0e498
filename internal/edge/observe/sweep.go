package observe

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/node"
	"github.com/statecraft-dev/statecraft/internal/edge/pool"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Sweep is one look at all devices of a pool, and at the pods on them.
type Sweep struct {
	// UID, Server and Selection are of the pool for which it was made: another one says nothing of it.
	UID       types.UID
	Server    edgev1.FlightControl
	Selection edgev1.DeviceSelection

	Access pool.Access
	// Blind says that Flight Control has not answered for so long that nothing is known of its devices.
	Blind bool
	// Devices are all that the pool has, and those that have a Node of it still; Chosen those that it selects.
	Devices map[string]device.Seen
	Chosen  map[string]bool
	// Pods are those of the whole cluster that are bound to a device, with its name, by a live list; BoundAt is when it began.
	Pods      map[types.UID]Bound
	BoundAt   time.Time
	Inventory pool.Inventory
}

// Bound is a pod that is bound to a device.
type Bound struct{ Pod, Device string }

// Of says that it was made for the pool as it is.
func (s Sweep) Of(p *edgev1.EdgePool) bool {
	return s.UID == p.UID && s.Server == p.Spec.Server && reflect.DeepEqual(s.Selection, p.Spec.Devices)
}

// Complete says that both sides were read: all devices of the pool, and all pods.
func (s Sweep) Complete() bool { return s.Access.State == pool.Answered && !s.BoundAt.IsZero() }

// Sweeper makes sweeps.
type Sweeper struct {
	Cached  read.Reader
	Live    read.Live
	Connect Connect
	Cluster entry.Cluster
	Now     func() time.Time
	// Last is the sweep before.
	Last func(read.Key) Sweep
}

// boundFor is how long a list of all pods is good for, unless an application is found whose pod it does not have.
const boundFor = 25 * time.Second

// Take makes the sweep of a pool.
func (s Sweeper) Take(ctx context.Context, key read.Key) (Sweep, error) {
	p := &edgev1.EdgePool{}
	if err := s.Cached.Get(ctx, key, p); err != nil {
		return Sweep{}, fmt.Errorf("read pool %s: %w", key.Name, err)
	}
	was, now := s.Last(key), s.Now()
	if !was.Of(p) {
		was = Sweep{}
	}
	out := Sweep{UID: p.UID, Server: p.Spec.Server, Selection: *p.Spec.Devices.DeepCopy()}
	announced, err := s.announced(ctx, p)
	if err != nil {
		return Sweep{}, err
	}
	f, err := s.Connect(ctx, p)
	if err != nil && !errors.Is(err, fleet.ErrDenied) {
		return Sweep{}, err
	}
	if err == nil {
		err = devices(ctx, f, p, announced, &out)
	}
	if out.Access, err = accessOf(was.Access, err, now); err != nil {
		return Sweep{}, err
	}
	if out.Access.State != pool.Answered {
		if out.Blind = blind(out.Access, now); !out.Blind { // one answer that is missing is no news
			out.Devices, out.Chosen = was.Devices, was.Chosen
		}
		return out, nil
	}
	return out, s.inventory(ctx, p, was, &out)
}

// announced are the devices that have a Node of the pool.
func (s Sweeper) announced(ctx context.Context, p *edgev1.EdgePool) (names []string, err error) {
	var nodes corev1.NodeList
	if err := s.Cached.List(ctx, &nodes, read.Fields{ByPool: p.Name}); err != nil {
		return nil, fmt.Errorf("list Nodes of pool %s: %w", p.Name, err)
	}
	for i := range nodes.Items {
		if id, is := node.IDOf(&nodes.Items[i]); is && id.Cluster == s.Cluster {
			names = append(names, id.Device)
		}
	}
	return names, nil
}

// devices reads those that the pool selects, page by page, and by name those that it selected once and that have a Node still.
func devices(ctx context.Context, f Fleet, p *edgev1.EdgePool, announced []string, out *Sweep) error {
	out.Devices, out.Chosen = map[string]device.Seen{}, map[string]bool{}
	for _, name := range p.Spec.Devices.Names {
		out.Chosen[name] = true
	}
	if of := p.Spec.Devices.MatchLabels; len(of) > 0 {
		selector := labels.Set{}
		for key, value := range of {
			selector[key] = string(value)
		}
		if err := chosen(ctx, f, selector.String(), out); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(p.Spec.Devices.Names, announced) {
		if _, is := out.Devices[name]; is {
			continue
		}
		seen, err := see(ctx, f, name)
		if err != nil {
			return err
		}
		out.Devices[name] = seen
	}
	return nil
}

// chosen reads the devices with some labels. One that cannot be decoded exists, and nothing is known of it.
func chosen(ctx context.Context, f Fleet, selector string, out *Sweep) error {
	for next := ""; ; {
		page, err := f.List(ctx, selector, next)
		if err != nil {
			return err
		}
		for _, d := range page.Devices {
			out.Devices[d.Name], out.Chosen[d.Name] = device.Seen{Sight: presence.Here, Device: d}, true
		}
		for _, name := range page.Unread {
			out.Devices[name], out.Chosen[name] = device.Seen{Sight: presence.Unknown, Device: fleet.Device{Name: name}}, true
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}
