package cluster

import (
	"strings"
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// hangs lets no server of the second shard answer, although their containers run, for two minutes.
func hangs() (*valkeyv1.ValkeyCluster, World) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.ObservedGeneration, c.Status.Since = Degraded, 1, *ago(2 * time.Minute)
	w.Reservation.State = reserve.Free
	for _, i := range []int{2, 3} {
		w.Nodes[i].Server, w.Nodes[i].Ready = nil, false
	}
	edited(&w, 1)
	return c, w
}

// An edit reaches a shard that hangs once a person has approved that its very pods are replaced by this very template.
func TestAShardThatHangsIsReplacedByApproval(t *testing.T) {
	approve := func(c *valkeyv1.ValkeyCluster, w *World) {
		s, _ := findSilentShard(input{Obj: c, World: *w, Now: present})
		c.Annotations = map[string]string{valkeyv1.ApproveAnnotation: s.token}
	}
	bears := func(_ *valkeyv1.ValkeyCluster, w *World) {
		for i, child := range w.Children {
			if child.Kind == KindStatefulSet {
				w.Children[i].Current, w.Children[i].Template = true, w.Template
			}
		}
		w.Nodes[2].Outdated, w.Nodes[3].Outdated = true, true
	}
	for name, tc := range map[string]struct {
		first, then func(*valkeyv1.ValkeyCluster, *World)
		want        string // effects by approval
		asks        bool
	}{
		"nobody has approved":                    {func(*valkeyv1.ValkeyCluster, *World) {}, nil, "", true},
		"approved":                               {approve, nil, "apply StatefulSet web-1", true},
		"approved, and it has the template":      {approve, bears, "delete-pod web-1-0, delete-pod web-1-1", true},
		"approved, and the spec is edited again": {approve, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Template = "next" }, "", true},
		"approved, and a pod is another":         {approve, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].UID = "another" }, "", true},
		"approved, and one answers":              {approve, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3] = clone(made()[len(made())-1].world).Nodes[3] }, "", false},
		"approved, and one is ready":             {approve, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Ready = true }, "", false},
		"approved, and one goes":                 {approve, func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[3].Leaving = true }, "", false},
		"approved, and paused":                   {approve, func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }, "", false},
		"approved, and an upgrade by a user works": {approve, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "other"}
		}, "", false},
		"approved, and that to this spec waits": {approve, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Reservation.State, w.Upgrade = reserve.Others, &Upgrade{Name: "web-template"}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: upgradeChecks}}
		}, "apply StatefulSet web-1", true},
		"it has been silent for a moment": {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Status.Since = *ago(time.Second) }, nil, "", false},
		"nothing was edited": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			for i := range w.Children {
				w.Children[i].Current = true
			}
		}, nil, "", false},
		"none of it runs": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			for _, i := range []int{2, 3} {
				w.Nodes[i].NeverRan, w.Nodes[i].Trouble = true, podstate.Trouble{Reason: podstate.Unschedulable, Words: "No node takes it."}
			}
		}, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			c, w := hangs()
			tc.first(c, &w)
			if tc.then != nil {
				tc.then(c, &w)
			}
			in := input{Obj: c, World: w, Now: present}
			d, _ := replaceSilentShard(in)
			var got []string
			for _, e := range d.Do {
				got = append(got, e.String())
			}
			if g := strings.Join(got, ", "); !strings.HasPrefix(g, tc.want) || tc.want == "" && g != "" {
				t.Errorf("%q, want %q", g, tc.want)
			}
			if words, asks := askToReplace(in); asks != tc.asks || asks && !strings.Contains(words, "all that it holds is lost") {
				t.Errorf("asks: %t, %q", asks, words)
			}
		})
	}
}

// The status names the plan, its token and what would be lost.
func TestWhatIsLostIsTold(t *testing.T) {
	c, w := hangs()
	c.Spec.Persistence.Enabled = true
	var effects []fsm.Effect
	d := decideDegraded(input{Obj: c, World: w, Now: present})
	for _, e := range d.Do {
		if _, deletes := e.(DeletePod); deletes {
			effects = append(effects, e)
		}
	}
	for _, words := range []string{"No server of shard 1 answers", "kubectl annotate vkc -n shop web", "2 pods, from web-1-0 on", "what it has not written to its volume is lost"} {
		if d.Reason != ReasonNotApproved || len(effects) > 0 || !strings.Contains(d.Message, words) {
			t.Errorf("%s %v: %s", d.Reason, d.Do, d.Message)
		}
	}
}
