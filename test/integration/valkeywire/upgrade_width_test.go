package valkeywire

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire/wiretest"
)

// withoutReplicas leaves the primaries alone.
func withoutReplicas(t *testing.T, c wiretest.Cluster) wiretest.Cluster {
	t.Helper()
	all := c.Nodes(t.Context())
	primaries := slices.DeleteFunc(slices.Clone(all), func(n topology.Node) bool { return n.Server == nil || n.Server.Self().Follows != "" })
	c.Addrs = nil
	for _, p := range primaries {
		c.Addrs = append(c.Addrs, p.Addr)
	}
	for _, n := range all {
		if slices.Contains(c.Addrs, n.Addr) {
			continue
		}
		if err := c.Kill(n.Addr); err != nil {
			t.Fatal(err)
		}
		for _, p := range primaries {
			if err := c.Forget(t.Context(), wire.Target{Addr: p.Addr, ID: p.Server.ID}, n.Server.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Until(t.Context(), func() bool { _, agree := c.Nodes(t.Context()).Agree(); return agree }); err != nil {
		t.Fatal(err)
	}
	return c
}

// apply does what becomes of a StatefulSet that is applied: a template is called as the
// version, and so is what it makes; pods come, or go with their volumes.
func (f *fleet) apply(e cluster.ApplyChild) error {
	set := &f.world.Shards[e.Shard]
	if e.Template != "" {
		set.Template, set.Upgrade = e.Template, upgrade.Mark{UID: "u1", Created: f.obj.CreationTimestamp.Time}
		set.Revision = strings.TrimPrefix(e.Template, valkeyv1.RevisionPrefix)
	}
	for ; set.Replicas < e.Replicas; set.Replicas++ {
		pod := topology.Pod{Name: fmt.Sprintf("%s-%d", set.Name, set.Replicas+1), Shard: e.Shard, Ordinal: set.Replicas + 1, Version: "1", Addr: f.processes.address()}
		n := topology.Node{Pod: pod}
		n.UID = fmt.Sprintf("%s of %s", n.Name, n.Addr)
		if err := f.begin(&n, filepath.Join(f.processes.dir, n.UID)); err != nil {
			return err
		}
		f.world.Nodes = append(f.world.Nodes, n)
	}
	slices.SortFunc(f.world.Nodes, func(a, b topology.Node) int { return (a.Shard-b.Shard)*10 + a.Ordinal - b.Ordinal })
	for ; set.Replicas > e.Replicas; set.Replicas-- {
		i := slices.IndexFunc(f.world.Nodes, func(n topology.Node) bool { return n.Shard == e.Shard && n.Ordinal == set.Replicas })
		_ = f.processes.kill(f.world.Nodes[i].Addr) // it may never have started
		f.world.Nodes = slices.Delete(f.world.Nodes, i, i+1)
	}
	return nil
}
