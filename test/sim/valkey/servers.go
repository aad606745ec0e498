package valkey

import (
	"context"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// age lets the servers' clock go as far as that of the plan.
func (k *kubelet) age(now time.Time) {
	if by := now.Sub(k.aged); !k.aged.IsZero() && by > 0 {
		k.servers.Advance(by)
		if len(k.gone) > 0 {
			k.stirred.Store(true) // who is missed may be called failed, and be replaced
		}
	}
	k.aged = now
}

// missed says that servers look for one that was stopped, and have not given it up.
func (k *kubelet) missed() (missed bool) {
	for addr, id := range k.gone {
		listed := false
		for _, n := range k.answering() {
			for _, p := range n.Server.View {
				if p.ID == id || p.State == topology.Handshake && p.Addr == addr {
					listed, missed = true, missed || p.State != topology.Failed
				}
			}
		}
		if !listed {
			delete(k.gone, addr)
		}
	}
	return missed
}

// answering asks all servers that run.
func (k *kubelet) answering() (nodes topology.Nodes) {
	for addr, pod := range k.running {
		if server, err := k.servers.Ask(context.Background(), addr); err == nil {
			nodes = append(nodes, topology.Node{Pod: topology.Pod{Name: pod, Addr: addr}, Server: server})
		}
	}
	return nodes
}

// One slot of each shard, as long as there are three.
var written = []int{0, 8000, 16000}

// write is a client that writes to every shard, at moments at which it could be lost.
func (k *kubelet) write() {
	for _, slot := range written {
		k.servers.Put(slot)
	}
	k.stirred.Store(true)
}

// talk lets every message through that is under way.
func (k *kubelet) talk() bool {
	steps := k.servers.Steps()
	for _, step := range steps {
		k.servers.Deliver(step)
	}
	k.stirred.Store(len(steps) > 0)
	return len(steps) > 0
}
