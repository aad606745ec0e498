package class

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/podstate"
)

var now = time.Unix(1_700_000_000, 0)

func ago(d time.Duration) int64 { return now.Add(-d).Unix() }

// running is a function of which n pods run and m of them are ready.
func running(floor, n, m int32) Function {
	f := Function{Key: "add", Name: "cart-add", Floor: floor}
	f.Rollout = Rollout{Seen: true, Desired: floor, Total: n, Updated: n, Ready: m, Available: m}
	for i := range n {
		f.Pods = append(f.Pods, Pod{Name: string('a' + i), Ready: i < m, Since: ago(time.Second)})
	}
	return f
}

func TestReady(t *testing.T) {
	edit := func(f Function, by func(*Function)) Function { by(&f); return f }
	for _, c := range []struct {
		what           string
		f              Function
		becomes, stays bool
	}{
		{"all run", running(3, 3, 3), true, true},
		{"one of three is drained", running(3, 3, 2), false, true},
		{"two of three are gone", running(3, 3, 1), false, false},
		{"the only one is gone", running(1, 1, 0), false, false},
		{"one of two is gone", running(2, 2, 1), false, true},
		{"none is wanted", running(0, 0, 0), true, true},
		{"its controller has not seen the edit", edit(running(2, 2, 2), func(f *Function) { f.Rollout.Seen = false }), false, true},
		{"an old replica is left", edit(running(2, 2, 2), func(f *Function) { f.Rollout.Total = 3 }), false, false},
		{"an engine scales up", edit(running(2, 5, 2), func(f *Function) { f.Rollout.Desired = 5 }), false, true},
		{"somebody scaled it to nothing", edit(running(2, 0, 0), func(f *Function) { f.Rollout.Desired = 0 }), false, false},
		{"somebody scaled it down", edit(running(4, 1, 1), func(f *Function) {
			f.Rollout.Desired = 1
			f.Replicas = &ownership.Field{Live: 1, Want: 4, Asked: ptr.To(int32(4)), Owners: []ownership.Owner{{Manager: "kubectl", Scale: true}}}
		}), true, true},
		{"an autoscaler may go below the spec", edit(running(4, 1, 1), func(f *Function) {
			f.Rollout.Desired, f.Engines = 1, []Engine{{Name: "HorizontalPodAutoscaler cart-add", Min: 1}}
		}), true, true},
		{"the sums are of before", edit(running(2, 2, 2), func(f *Function) { f.Pods[0].Ready, f.Pods[1].Ready = false, false }), false, false},
		{"one that is ready is leaving", edit(running(1, 1, 1), func(f *Function) { f.Pods[0].Leaving = true }), false, false},
		{"no longer ready for long enough", edit(running(2, 2, 2), func(f *Function) { f.Rollout.Available = 0 }), false, false},
	} {
		if got := c.f.becomes(); got != c.becomes {
			t.Errorf("%s: becomes ready: %t", c.what, got)
		}
		if got := c.f.stays(); got != c.stays {
			t.Errorf("%s: stays ready: %t", c.what, got)
		}
	}
}

func TestCrashes(t *testing.T) {
	crash := func(restarts int32, ended time.Duration) Crash {
		return Crash{Container: "function", Restarts: restarts, Started: ago(ended + 2*time.Second), Ended: ago(ended), Exit: 1}
	}
	for _, c := range []struct {
		what  string
		p     Pod
		is    bool
		again time.Duration
	}{
		{"runs", Pod{Ready: true, Since: ago(time.Hour)}, false, 0},
		{"waits to be restarted", Pod{Trouble: podstate.Trouble{Reason: podstate.CrashLoopBackOff}}, true, 0},
		{"needs more memory than it may have", Pod{Trouble: podstate.Trouble{Reason: podstate.OOMKilled}}, true, 0},
		{"crashed twice", Pod{Crash: crash(2, time.Second)}, false, 0},
		{"crashed three times, and runs", Pod{Crash: crash(3, time.Second)}, true, 10*time.Minute - time.Second},
		{"crashed three times, and is ready for a moment", Pod{Ready: true, Since: ago(10 * time.Second), Crash: crash(3, 20*time.Second)}, true, 50 * time.Second},
		{"crashed three times, and has been ready since", Pod{Ready: true, Since: ago(time.Minute), Crash: crash(3, 2*time.Minute)}, false, 0},
		{"was restarted often, long ago", Pod{Crash: crash(30, 10*time.Minute)}, false, 0},
		{"was restarted often, and its last run was a long one", Pod{Crash: Crash{Restarts: 5, Started: ago(time.Hour), Ended: ago(time.Second)}}, false, 0},
	} {
		again, is := c.p.crashes(now)
		if is != c.is || again != c.again {
			t.Errorf("a pod that %s: crashes %t, again in %s", c.what, is, again)
		}
	}
	f := running(1, 1, 0)
	f.Pods[0].Trouble.Reason, f.Pods[0].Leaving = podstate.CrashLoopBackOff, true
	if _, is := crashes(f, now); is {
		t.Error("a pod that leaves is judged")
	}
}

// Every function that wants a replica answers, or the class does not serve: also one that cannot be built and never ran.
func TestServing(t *testing.T) {
	invalid := Function{Key: "total", Name: "cart-total", Invalid: "Function total has no image: set image."}
	runs := running(1, 1, 1)
	runs.Key, runs.Invalid = "total", invalid.Invalid
	for what, c := range map[string]struct {
		functions []Function
		want      fsm.Reason
	}{
		"all answer":                             {[]Function{running(1, 1, 1)}, ReasonAnswering},
		"one does not":                           {[]Function{running(1, 1, 0)}, ReasonSilent},
		"none is wanted":                         {[]Function{running(0, 0, 0)}, ReasonZero},
		"one cannot be built":                    {[]Function{running(1, 1, 1), invalid}, ReasonSilent},
		"one cannot be built any more, and runs": {[]Function{running(1, 1, 1), runs}, ReasonAnswering},
		"one that is not wanted, and one that does not": {[]Function{running(0, 0, 0), running(1, 1, 0)}, ReasonSilent},
	} {
		if got := serving(World{Functions: c.functions}); got.Reason != string(c.want) {
			t.Errorf("%s: %s", what, got.Reason)
		}
	}
}

// A pod that crashes says so in the same words while it waits and while it runs.
func TestACrashHasOneSentence(t *testing.T) {
	p := Pod{Name: "a", Crash: Crash{Container: "function", Restarts: 4, Started: ago(3 * time.Second), Ended: ago(time.Second), Exit: 2}}
	runs := p.crashWords()
	p.Trouble = podstate.Trouble{Reason: podstate.CrashLoopBackOff, Words: "Container function of pod a ends again and again (CrashLoopBackOff)."}
	if waits := p.crashWords(); waits != runs {
		t.Errorf("%q, and then %q", runs, waits)
	}
	p.Trouble.Reason = podstate.OOMKilled
	if p.crashWords() != p.Trouble.Words {
		t.Error("that it needs more memory is not told")
	}
	p.Trouble.Reason, p.Crash = podstate.CrashLoopBackOff, Crash{}
	if p.crashWords() != p.Trouble.Words {
		t.Error("a pod of which no crash is known says nothing")
	}
}

// The most telling cause is told, whichever pod has it.
func TestCause(t *testing.T) {
	f := running(3, 3, 0)
	trouble := func(i int, why podstate.Reason) {
		f.Pods[i].Trouble = podstate.Trouble{Reason: why, Words: string(why) + "."}
	}
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() {}, "Waiting for Deployment cart-add to have 3 replicas ready."},
		{func() { trouble(0, "SomethingNew") }, "SomethingNew."},
		{func() { trouble(1, podstate.Unschedulable) }, "Unschedulable."},
		{func() { trouble(0, podstate.CreateContainerConfigError) }, "CreateContainerConfigError."},
		{func() { trouble(2, podstate.ImagePullBackOff) }, "ImagePullBackOff."},
		{func() { f.Rollout.Paused = true }, "ImagePullBackOff."},
		{func() { f.Rollout.Updated-- }, "Deployment cart-add is paused, so that its pods are not replaced. Somebody has run kubectl rollout pause: kubectl rollout resume deployment/cart-add -n shop ends that."},
		{func() { f.Rollout.Refused = "exceeded quota: pods." }, "Pods of Deployment cart-add cannot be created: exceeded quota: pods. Change what refuses them, or what the function asks for."},
	} {
		c.do()
		if got := cause(newClass(), f); got.message != c.want {
			t.Errorf("%+v, want %s", got, c.want)
		}
	}
}

// A refusal that was told a moment ago may be taken back in the next: it is awaited, and looked at again in time.
func TestRefusalsAreBelievedWhenTheyStand(t *testing.T) {
	c, f := newClass(), running(2, 1, 1)
	c.Status.Phase, c.Status.Since = Progressing, metav1.NewTime(now.Add(-time.Minute))
	f.Rollout.Refused, f.Rollout.RefusedSince = "exceeded quota: pods", ago(time.Second)
	in := input{Obj: c, World: World{Looked: true, Functions: []Function{f}}, Now: now}
	d := decideProgressing(in)
	if d.On != "" || d.Reason != ReasonPodsRefused || d.After != time.Second {
		t.Errorf("a refusal of a second ago: %+v", d)
	}
	in.Now = now.Add(time.Second)
	if d := decideProgressing(in); d.On != Failed || d.Reason != ReasonPodsRefused {
		t.Errorf("a refusal of two seconds ago: %+v", d)
	}
}

// What a pod lacks that has ended for good is no lack: another takes its place.
func TestOverdue(t *testing.T) {
	c, f := newClass(), running(3, 3, 2)
	f.Pods[2].Since = ago(59 * time.Second)
	in := input{Obj: c, World: World{Looked: true, Functions: []Function{f}}, Now: now}
	if v, again := overdue(in); v.reason != "" || again != time.Second {
		t.Errorf("%+v in %s", v, again)
	}
	in.Now = now.Add(time.Second)
	if v, _ := overdue(in); v.reason != ReasonTimeout {
		t.Errorf("%+v", v)
	}
	f.Pods[2].Ended = true
	if v, again := overdue(in); v.reason != "" || again != 0 {
		t.Errorf("%+v in %s", v, again)
	}
}
