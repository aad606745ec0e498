package cluster

import (
	"strings"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// stoppedShard lets no pod of the second shard run, by a template that was edited since.
func stoppedShard(_ *valkeyv1.ValkeyCluster, w *World) {
	w.Reservation.State = reserve.Free
	for _, i := range []int{2, 3} {
		n := &w.Nodes[i]
		n.Server, n.Ready, n.NeverRan, n.Outdated = nil, false, true, false
		n.Trouble = podstate.Trouble{Reason: podstate.Unschedulable, Words: "No node takes pod " + n.Name + " (Unschedulable)."}
	}
	edited(w, 1)
}

// edited lets the spec ask for another template than a shard has.
func edited(w *World, shard int) {
	for i, c := range w.Children {
		if c.Kind == KindStatefulSet && c.Shard == shard {
			w.Children[i].Current, w.Children[i].Template = false, "of before"
		}
	}
}

// applied is the same once the shard has the template.
func applied(c *valkeyv1.ValkeyCluster, w *World) {
	stoppedShard(c, w)
	for i, child := range w.Children {
		if child.Kind == KindStatefulSet {
			w.Children[i].Current, w.Children[i].Template = true, w.Template
		}
	}
	w.Nodes[2].Outdated, w.Nodes[3].Outdated = true, true
}

// An edit reaches a shard of which no server runs, and no other.
func TestAnEditReachesAShardThatStopped(t *testing.T) {
	also := func(first, change func(*valkeyv1.ValkeyCluster, *World)) func(*valkeyv1.ValkeyCluster, *World) {
		return func(c *valkeyv1.ValkeyCluster, w *World) { first(c, w); change(c, w) }
	}
	tryCautions(t, Degraded, map[string]caution{
		"no pod can run":     {stoppedShard, "apply StatefulSet web-1", Degraded},
		"then they are made": {applied, "delete-pod web-1-0, delete-pod web-1-1", Degraded},
		"one runs":           {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].NeverRan = false }), "make-upgrade web-template", Degraded},
		"one has run, and has ended": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Nodes[3].NeverRan, w.Nodes[3].Ended, w.Nodes[3].Trouble.Reason = false, true, podstate.OOMKilled
		}), "apply StatefulSet web-1", Degraded},
		"one may run where nobody sees it": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Trouble.MayRun = true }),
			"make-upgrade web-template", Degraded},
		"one is going": {also(applied, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[2].Leaving = true }), "", Degraded},
		"paused":       {also(stoppedShard, func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }), "", Degraded},
		"an upgrade by somebody works on it": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "other"}
		}), "", Degraded},
		"an upgrade of an older spec waits for it": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade, w.Own = reserve.Others, &Upgrade{Name: "web-older"}, []OwnUpgrade{{Name: "web-older", UID: "u"}}
		}), "delete-upgrade web-older", Degraded},
		"the upgrade to this spec waits for it": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "web-template"}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "PreChecks"}}
		}), "delete-upgrade web-template", Degraded},
		"the upgrade to this spec has begun": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "web-template"}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
		}), "apply StatefulSet web-1", Degraded},
		"the upgrade to this spec works on another shard, which waits for it": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "web-template", Asks: []Ask{{Shard: 0, Template: w.Template}}}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
		}), "apply StatefulSet web-1", Degraded},
		"the same, and pods are to be made anew": {also(applied, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "web-template", Asks: []Ask{{Shard: 0, Template: w.Template}}}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
		}), "delete-pod web-1-0, delete-pod web-1-1", Degraded},
		"the upgrade to this spec works on it": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "web-template", Asks: []Ask{{Shard: 1, Template: "of before"}}}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
		}), "", Degraded},
		"the upgrade to this spec goes back": {also(stoppedShard, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "web-template"}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "RollingBack"}}
		}), "", Degraded},
		"they are what the spec asks for": {also(applied, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[2].Outdated, w.Nodes[3].Outdated = false, false }),
			"", Degraded},
	})
}

// What keeps a pod from running is in the message.
func TestDegradedSaysWhatIsWrongWithAPod(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	applied(c, &w)
	w.Nodes[2].Outdated, w.Nodes[3].Outdated = false, false
	if d := decideDegraded(input{Obj: c, World: w, Now: present}); !strings.Contains(d.Message, "No node takes pod web-1-0 (Unschedulable).") {
		t.Errorf("%s: %s", d.Reason, d.Message)
	}
}

// A newer spec replaces the upgrade that an older one asked for, and no other.
func TestANewerSpecReplacesItsUpgrade(t *testing.T) {
	for name, tc := range map[string]struct {
		own    OwnUpgrade
		change func(*valkeyv1.ValkeyCluster, *World)
		want   string
	}{
		"of an older spec, under way":              {OwnUpgrade{Name: "web-older", UID: "u"}, func(*valkeyv1.ValkeyCluster, *World) {}, "delete-upgrade web-older, make-upgrade web-template"},
		"of an older spec, ended":                  {OwnUpgrade{Name: "web-older", UID: "u", Ended: true}, func(*valkeyv1.ValkeyCluster, *World) {}, "delete-upgrade web-older, make-upgrade web-template"},
		"of this spec":                             {OwnUpgrade{Name: "web-template", UID: "u"}, func(*valkeyv1.ValkeyCluster, *World) {}, ""},
		"the edit is taken back before it began":   {OwnUpgrade{Name: "web-older", UID: "u"}, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Children[5].Current = true }, "delete-upgrade web-older"},
		"of an older spec, and shards are to come": {OwnUpgrade{Name: "web-older", UID: "u"}, func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Masters = 4 }, ""},
		"paused": {OwnUpgrade{Name: "web-older", UID: "u"}, func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, w := newCluster(), clone(made()[len(made())-1].world)
			edited(&w, 1)
			w.Own = []OwnUpgrade{tc.own}
			tc.change(c, &w)
			effects, _ := requestUpgrade(input{Obj: c, World: w, Now: present})
			var got []string
			for _, e := range effects {
				got = append(got, e.String())
			}
			if strings.Join(got, ", ") != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
