package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/maintenance"
)

// anyOtherOperator lets some worlds be those of another version of the operator.
func anyOtherOperator(r *rand.Rand, c *valkeyv1.ValkeyCluster, w *World) {
	if r.IntN(3) > 0 {
		return
	}
	w.PodFields = "fields"
	c.Status.PodFields = pick(r, nil, &valkeyv1.PodFields{Generation: pick[int64](r, 0, 1), Hash: pick(r, "fields", "others"), Edited: r.IntN(8) == 0})
	if r.IntN(3) == 0 {
		c.Spec.Maintenance = &valkeyv1.Maintenance{Windows: []valkeyv1.MaintenanceWindow{{Start: fmt.Sprintf("%02d:00", r.IntN(24)), Duration: "12h"}}}
	}
	for n := range r.IntN(4) {
		w.Places = append(w.Places, RestartPlace{Number: n + 1, Failed: r.IntN(6) == 0,
			Fact: reserve.Fact{State: pick(r, reserve.Ours, reserve.Free, reserve.Others), Holder: "ValkeyCluster shop/other"}})
	}
	for i := range w.Children {
		if child := &w.Children[i]; w.Formed && child.Kind == KindStatefulSet && r.IntN(3) > 0 {
			child.Current, child.Template = false, "of before"
		}
	}
}

// safeRestart: what nobody asked for begins in a place, and in time. A failure elsewhere stops it.
func safeRestart(in input, effect fsm.Effect) error {
	w := in.World
	switch e := effect.(type) {
	case MakeUpgrade:
		if !editedByUser(in) {
			return errors.New("restarts servers unasked, and in no place")
		}
	case BeginRestart:
		i := slices.IndexFunc(w.Places, func(p RestartPlace) bool { return p.Number == e.Place })
		begun := slices.ContainsFunc(w.Own, func(u OwnUpgrade) bool { return !u.Ended })
		if i < 0 || w.Places[i].State == reserve.Others {
			return errors.New("takes a place that another has")
		}
		if !maintenance.At(in.Obj.Spec.Maintenance, in.Now).Open && !begun {
			return errors.New("restarts servers out of time")
		}
		if w.Places[i].State == reserve.Free && slices.ContainsFunc(w.Places, func(p RestartPlace) bool { return p.Failed }) {
			return errors.New("restarts servers after the restart of others has failed")
		}
	case reserve.Release:
		if IsPlace(e.Target) && ownUnderWay(w) {
			return errors.New("gives up a place while servers are restarted")
		}
	}
	return nil
}

func TestFaultBeginsARestartWithoutATurn(t *testing.T) {
	t.Parallel()
	b := newBench().Deciding(Running, func(in input) fsm.Decision {
		if r, pending := pendingRestart(in); pending && r.reason == ReasonAwaitingTurn && !in.Obj.Spec.Paused {
			return fsm.Do(ReasonClusterHealthy, BeginRestart{1, MakeUpgrade{ownName(in), "image"}}).Because("It is broken on purpose.")
		}
		return decideRunning(in)
	})
	fsmtest.Caught(t, b.ExploreIn(Running), "takes a place that another has")
}

// anotherOperator is a cluster that runs, and of which another version of the operator makes other pods.
func anotherOperator(c *valkeyv1.ValkeyCluster, w *World) {
	c.Status.Phase, c.Status.ObservedGeneration = Running, 1
	c.Status.PodFields = &valkeyv1.PodFields{Generation: 1, Hash: "fields"}
	w.PodFields, w.Places = "fields", []RestartPlace{{Number: 1, Fact: reserve.Fact{State: reserve.Free}}}
	for i := range w.Children {
		if child := &w.Children[i]; child.Kind == KindStatefulSet {
			child.Current, child.Template, child.Image, child.SpecImage = false, "of before", "valkey:8.1", "valkey:8.1"
		}
	}
}

// The same spec and other pods are the operator's doing; so is a default that the API server adds, and whatever nobody knows.
func TestWhoseDoingARestartIs(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*valkeyv1.ValkeyCluster, *World)
		user   bool
	}{
		"another version of the operator": {func(*valkeyv1.ValkeyCluster, *World) {}, false},
		"an edit":                         {func(c *valkeyv1.ValkeyCluster, w *World) { c.Generation, w.PodFields = 2, "others" }, true},
		"an edit of something else":       {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Generation = 2 }, false},
		"a default of the API server":     {func(_ *valkeyv1.ValkeyCluster, w *World) { w.PodFields = "others" }, false},
		"an earlier version of us":        {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Status.PodFields = nil }, false},
		"an earlier version of us, and an edit": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Status.PodFields, c.Generation, w.PodFields = nil, 2, "others"
		}, false},
		"an edit that was taken back half way": {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Status.PodFields.Edited, c.Generation = true, 3 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := concluded(t, Running, func(c *valkeyv1.ValkeyCluster, w *World) { anotherOperator(c, w); tc.change(c, w) })
			ready, pending := apimeta.IsStatusConditionTrue(c.Status.Conditions, fsm.Ready), apimeta.IsStatusConditionTrue(c.Status.Conditions, valkeyv1.RestartPending)
			if ready == tc.user || pending == tc.user || c.Status.PodFields.Edited != tc.user || c.Status.PodFields.Generation != c.Generation {
				t.Errorf("ready is %t, pending %t, %+v", ready, pending, c.Status.PodFields)
			}
		})
	}
}

// An edit counts until every shard was brought to it.
func TestAnEditCountsUntilItIsReached(t *testing.T) {
	edited := func(c *valkeyv1.ValkeyCluster, w *World) {
		anotherOperator(c, w)
		c.Status.PodFields.Edited = true
	}
	for name, tc := range map[string]struct {
		change func(*World)
		want   bool
	}{
		"not begun": {func(*World) {}, true},
		"half way": {func(w *World) {
			w.Children[4].Current = true
			w.Children[5].Current = true
		}, true},
		"every shard has it, and the upgrade has not ended": {func(w *World) {
			for i := range w.Children {
				w.Children[i].Current = true
			}
			w.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
		}, true},
		"every shard has it": {func(w *World) {
			for i := range w.Children {
				w.Children[i].Current = true
			}
		}, false},
	} {
		c := concluded(t, Running, func(c *valkeyv1.ValkeyCluster, w *World) { edited(c, w); tc.change(w) })
		if c.Status.PodFields.Edited != tc.want {
			t.Errorf("%s: %+v", name, c.Status.PodFields)
		}
	}
}

func others(failed bool) []RestartPlace {
	return []RestartPlace{{Number: 1, Failed: failed, Fact: reserve.Fact{State: reserve.Others, Holder: "ValkeyCluster shop/other"}}}
}

// closed is a window that is not open at present, which is 2023-11-14 22:13:20 in UTC.
func closed() *valkeyv1.Maintenance {
	return &valkeyv1.Maintenance{TimeZone: "Europe/Vienna", Windows: []valkeyv1.MaintenanceWindow{{Start: "02:00", Duration: "3h"}}}
}

// TestRestartsOfTheOperator: when one begins, what it waits for, and that the spec counts as reached meanwhile.
func TestRestartsOfTheOperator(t *testing.T) {
	const begins = "begin-restart web-template in place 1"
	for name, tc := range map[string]struct {
		change func(*valkeyv1.ValkeyCluster, *World)
		want   string // effects
		reason fsm.Reason
		words  string
	}{
		"a place is free":    {func(*valkeyv1.ValkeyCluster, *World) {}, begins, ReasonRestarting, ""},
		"it has a place":     {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Places[0].State = reserve.Ours }, begins, ReasonRestarting, ""},
		"another has it":     {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Places = others(false) }, "", ReasonAwaitingTurn, "at most one cluster is restarted at a time; kubectl get valkeyupgrades -A shows which."},
		"another has failed": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Places = others(true) }, "", ReasonRestartsStopped, "The restart of ValkeyCluster shop/other failed"},
		"another has failed, and one is free": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Places = append(others(true), RestartPlace{Number: 2, Fact: reserve.Fact{State: reserve.Free}})
		}, "", ReasonRestartsStopped, "put that cluster right first"},
		"the second of two is free": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Places = append(others(false), RestartPlace{Number: 2, Fact: reserve.Fact{State: reserve.Free}})
		}, "begin-restart web-template in place 2", ReasonRestarting, ""},
		"two have both":  {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Places = append(others(false), others(false)...) }, "", ReasonAwaitingTurn, "at most 2 clusters are restarted at a time"},
		"there are none": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Places = nil }, "", ReasonRestartHeld, "restarts no cluster by itself"},
		"out of time":    {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Maintenance = closed() }, "", ReasonOutsideWindow, "opens at 2023-11-15 02:00 Europe/Vienna. To restart them now, create a ValkeyUpgrade without spec.image."},
		"out of time, with a place": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Maintenance, w.Places[0].State = closed(), reserve.Ours
		},
			"release-reservation", ReasonOutsideWindow, "To restart them now, create a ValkeyUpgrade without spec.image."},
		"windows that say nothing": {func(c *valkeyv1.ValkeyCluster, _ *World) {
			c.Spec.Maintenance = closed()
			c.Spec.Maintenance.TimeZone = "Gotham"
		}, "", ReasonOutsideWindow, "correct spec.maintenance"},
		"in time": {func(c *valkeyv1.ValkeyCluster, _ *World) {
			c.Spec.Maintenance = closed()
			c.Spec.Maintenance.Windows[0].Start = "21:30"
		}, begins, ReasonRestarting, ""},
		"paused":             {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }, "", ReasonRestartHeld, "unset spec.paused"},
		"reserved by others": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Reservation.State = reserve.Others }, "", ReasonRestartHeld, "has reserved the cluster"},
		"it is under way": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Places[0].State, w.Own = reserve.Ours, []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
		}, "", ReasonRestarting, "ValkeyUpgrade web-template restarts them."},
		"it has failed": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Places[0].State, w.Own = reserve.Ours, []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "RolledBack", Ended: true}}
		}, "", ReasonRestartFailed, "ended in phase RolledBack"},
		"it was under way with an earlier version": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Maintenance = closed()
			w.Places[0].State, w.Own = reserve.Ours, []OwnUpgrade{{Name: "web-before", UID: "u", Phase: "InProgress"}}
		}, begins, ReasonRestarting, ""},
		"it failed with an earlier version": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Places[0].State, w.Own = reserve.Ours, []OwnUpgrade{{Name: "web-before", UID: "u", Phase: "Failed", Ended: true}}
		}, begins, ReasonRestarting, ""},
		"it failed with an earlier version, and its time is not now": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Maintenance = closed()
			w.Places[0].State, w.Own = reserve.Ours, []OwnUpgrade{{Name: "web-before", UID: "u", Phase: "Failed", Ended: true}}
		}, "release-reservation", ReasonOutsideWindow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, w := newCluster(), clone(made()[len(made())-1].world)
			anotherOperator(c, &w)
			tc.change(c, &w)
			in := input{Obj: c, World: w, Now: present}
			var effects []string
			for _, e := range maintain(in) {
				effects = append(effects, e.String())
			}
			if got := strings.Join(effects, ", "); got != tc.want {
				t.Errorf("does %q, want %q", got, tc.want)
			}
			step, err := Machine.Step(in)
			if err != nil {
				t.Fatal(err)
			}
			out := Machine.Reduce(in, step, nil).Obj
			is := apimeta.FindStatusCondition(out.Status.Conditions, valkeyv1.RestartPending)
			if is == nil || is.Status != metav1.ConditionTrue || is.Reason != string(tc.reason) || !strings.Contains(is.Message, tc.words) {
				t.Errorf("says %+v", is)
			}
			if !apimeta.IsStatusConditionTrue(out.Status.Conditions, fsm.Ready) {
				t.Errorf("the spec is not reached: %+v", out.Status.Conditions)
			}
		})
	}
}

// A restart that the operator wants is not begun in a cluster that is not well, unless an earlier one left it so.
func TestRestartsOfTheOperatorWaitForHealth(t *testing.T) {
	for name, tc := range map[string]struct {
		own  []OwnUpgrade
		want bool
	}{
		"one that is not well":                      {nil, false},
		"one that an earlier version left half way": {[]OwnUpgrade{{Name: "web-before", UID: "u", Phase: "Failed", Ended: true}}, true},
		"one that was well after an earlier one":    {[]OwnUpgrade{{Name: "web-before", UID: "u", Phase: "Completed", Ended: true}}, false},
	} {
		c, w := newCluster(), clone(made()[len(made())-1].world)
		anotherOperator(c, &w)
		c.Status.Phase, w.Nodes[5].Ready, w.Own = Degraded, false, tc.own
		if r, _ := pendingRestart(input{Obj: c, World: w, Now: present}); (r.place > 0) != tc.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// What waits for a window is looked at when that opens; what waits for others, when a place changes hands.
func TestRestartsOfTheOperatorAreLookedAtAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*valkeyv1.ValkeyCluster, *World)
		wake   string
		after  time.Duration
	}{
		"a window": {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Maintenance = closed() }, "window", 2*time.Hour + 46*time.Minute + 40*time.Second},
		"a place":  {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Places = others(false) }, "restarts", 0},
	} {
		c, w := newCluster(), clone(made()[len(made())-1].world)
		anotherOperator(c, &w)
		tc.change(c, &w)
		if d := decideRunning(input{Obj: c, World: w, Now: present}); !slices.Contains(d.Wakes, tc.wake) || d.After != tc.after {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// What nobody asked for keeps nothing that the user wants waiting.
func TestARestartThatWaitsHoldsNothingUp(t *testing.T) {
	in := fiveShards(Running)
	anotherOperator(in.Obj, &in.World)
	in.World.Places = others(false)
	if event, _ := scaleEvent(in); event != ScaleDownDetected {
		t.Errorf("%q", event)
	}
	if p, doubt := makePlan(in); p == nil || slices.Contains(p.Steps, "restart") {
		t.Errorf("%+v: %s", p, doubt)
	}
	in.World.Own = []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
	if event, _ := scaleEvent(in); event != "" {
		t.Errorf("under way: %q", event)
	}
}

// TestAnotherOperator drills the way from one version of the operator to another: it crashes after every effect, its status is lost, it is late.
func TestAnotherOperator(t *testing.T) {
	b := newBench()
	b.Object = func() *valkeyv1.ValkeyCluster {
		c := newCluster()
		anotherOperator(c, &World{})
		return c
	}
	b.World = func() World {
		w := clone(made()[len(made())-1].world)
		anotherOperator(newCluster(), &w)
		return w
	}
	fsmtest.Drill(t, b)
}

// A cluster that does not go on with its restart gives its place back, whatever else holds it up: all others wait for it.
func TestAPlaceIsNotKeptForNothing(t *testing.T) {
	for what, tc := range map[string]struct {
		phase  fsm.Phase
		change func(*valkeyv1.ValkeyCluster, *World)
		gives  bool
	}{
		"paused, and the failed upgrade deleted": {Running, func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }, true},
		"paused in the middle": {Running, func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Paused, w.Own = true, []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "InProgress"}}
		}, false},
		"paused, and it failed": {Running, func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Paused, w.Own = true, []OwnUpgrade{{Name: "web-template", UID: "u", Phase: "Failed", Ended: true}}
		}, false},
		"done, and growing": {WaitingForNewPods, func(_ *valkeyv1.ValkeyCluster, w *World) {
			for i := range w.Children {
				w.Children[i].Current = true
			}
		}, true},
	} {
		c, w := newCluster(), clone(made()[len(made())-1].world)
		anotherOperator(c, &w)
		c.Status.Phase, w.Reservation.State, w.Places[0].State = tc.phase, reserve.Ours, reserve.Ours
		tc.change(c, &w)
		d, acts := reflex(input{Obj: c, World: w, Now: present})
		if gives := acts && len(d.Do) == 1 && d.Do[0].String() == "release-reservation"; gives != tc.gives {
			t.Errorf("%s: %s %v", what, d.Reason, d.Do)
		}
	}
}
