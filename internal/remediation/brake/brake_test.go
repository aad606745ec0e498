package brake

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

var (
	now    = time.Unix(1_700_000_000, 0).UTC()
	limits = Limits{Cooldown: 5 * time.Minute, PerNamespace: 3, Failures: 2, Window: 10 * time.Minute}
	us     = Run{UID: "us", Namespace: "shop", Name: "us", Action: "scale_deployment", Target: "t1"}
)

func ago(d time.Duration) time.Time { return now.Add(-d) }

func TestCooldown(t *testing.T) {
	done := Run{UID: "x1", Namespace: "shop", Name: "first", Action: us.Action, Target: us.Target, ChangedAt: ago(time.Minute)}
	for name, c := range map[string]struct {
		us, other func(*Run)
		left      time.Duration // 0 is open
	}{
		"the same was done to it a minute ago":          {left: 4 * time.Minute},
		"the same was done to it five minutes ago":      {other: func(r *Run) { r.ChangedAt = ago(5 * time.Minute) }},
		"nothing was changed":                           {other: func(r *Run) { r.ChangedAt = time.Time{} }},
		"something else was done to it":                 {other: func(r *Run) { r.Action = "rollout_restart" }},
		"the same was done to another target":           {other: func(r *Run) { r.Target = "t2" }},
		"neither has a target yet":                      {us: func(r *Run) { r.Target = "" }, other: func(r *Run) { r.Target = "" }},
		"it is itself":                                  {other: func(r *Run) { r.UID = us.UID }},
		"it takes that one back":                        {us: func(r *Run) { r.TakesBack = "x1" }},
		"it takes another one back":                     {us: func(r *Run) { r.TakesBack = "x0" }, left: 4 * time.Minute},
		"both are steps of one request":                 {us: func(r *Run) { r.Request = "r1" }, other: func(r *Run) { r.Request = "r1" }},
		"they are steps of two requests":                {us: func(r *Run) { r.Request = "r1" }, other: func(r *Run) { r.Request = "r2" }, left: 4 * time.Minute},
		"the cooldown of the last one counts":           {other: func(r *Run) { r.ChangedAt = ago(10 * time.Second) }, left: 290 * time.Second},
		"the other one is from after the clock was set": {other: func(r *Run) { r.ChangedAt = now.Add(time.Minute) }, left: 6 * time.Minute},
	} {
		x, other := us, done
		if c.us != nil {
			c.us(&x)
		}
		if c.other != nil {
			c.other(&other)
		}
		old := other
		old.UID, old.Name, old.ChangedAt = "x0", "old", ago(time.Hour)
		check(t, name, limits.Cooling(x, []Run{old, other, old}, now), c.left, "KubernetesExecution shop/first did scale_deployment to the same target, "+
			"which is not done again within 5m.")
	}
	if c := (Limits{}).Cooling(us, []Run{done}, now); c != nil {
		t.Errorf("a cooldown of 0 holds: %+v", c)
	}
}

func TestRate(t *testing.T) {
	for name, c := range map[string]struct {
		released []time.Duration // ago
		left     time.Duration
	}{
		"none were released":                      {},
		"one may be left":                         {released: []time.Duration{time.Minute, 2 * time.Minute}},
		"as many as may be":                       {released: []time.Duration{time.Minute, 50 * time.Minute, 2 * time.Minute}, left: 10 * time.Minute},
		"more than may be, since the limit fell":  {released: []time.Duration{1 * time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute}, left: 57 * time.Minute},
		"as many as may be, but over a long time": {released: []time.Duration{time.Minute, 2 * time.Minute, time.Hour}},
	} {
		others := []Run{
			{UID: us.UID, Namespace: "shop", ReleasedAt: ago(time.Second)}, {UID: "x8", Namespace: "shop"},
			{UID: "x9", Namespace: "till", ReleasedAt: ago(time.Second)},
		}
		for i, d := range c.released {
			others = append(others, Run{UID: types.UID(fmt.Sprint(i)), Namespace: "shop", ReleasedAt: ago(d)})
		}
		check(t, name, limits.Rate(us, others, now), c.left, "as many executions were released in namespace shop within an hour as may be, which is 3 ")
	}
	if c := (Limits{}).Rate(us, []Run{{UID: "x1", Namespace: "shop", ReleasedAt: now}}, now); c != nil {
		t.Errorf("a limit of 0 holds: %+v", c)
	}
}

func TestStorm(t *testing.T) {
	for name, c := range map[string]struct {
		failed []time.Duration // ago
		left   time.Duration
		says   string
	}{
		"none failed":                             {},
		"as many failed as may":                   {failed: []time.Duration{time.Minute, 2 * time.Minute}},
		"one more failed than may":                {failed: []time.Duration{time.Minute, 4 * time.Minute, 2 * time.Minute}, left: 6 * time.Minute, says: "3 executions failed within 10m, which holds all others (--remediation-storm-failures=2): shop/x0, shop/x2, shop/x1. "},
		"one more failed, but over a longer time": {failed: []time.Duration{time.Minute, 10 * time.Minute, 2 * time.Minute}},
		"many failed": {failed: []time.Duration{1, 2, 3, 4, 5, 6, 7}, left: 10*time.Minute - 3,
			says: "7 executions failed within 10m, which holds all others (--remediation-storm-failures=2): shop/x0, shop/x1, shop/x2, shop/x3, shop/x4 and 2 more. "},
	} {
		others := []Run{{UID: "x9", Namespace: "shop", Name: "x9"}}
		for i, d := range c.failed {
			others = append(others, Run{UID: types.UID(fmt.Sprint(i)), Namespace: "shop", Name: fmt.Sprintf("x%d", i), FailedAt: ago(d)})
		}
		check(t, name, limits.Storm(us, others, now), c.left, c.says)
	}
	if c := (Limits{Window: time.Hour}).Storm(us, []Run{{UID: "x1", FailedAt: now}}, now); c != nil {
		t.Errorf("a limit of 0 holds: %+v", c)
	}
}

// TestAStormElsewhere: those who may fail in one other namespace hold nobody else.
func TestAStormElsewhere(t *testing.T) {
	limits := Limits{Failures: 4, Window: 10 * time.Minute}
	failing := func(namespaces ...string) (all []Run) {
		for i, n := range namespaces {
			all = append(all, Run{UID: types.UID(fmt.Sprint(i)), Namespace: n, Name: fmt.Sprintf("x%d", i), FailedAt: ago(time.Duration(i+1) * time.Minute)})
		}
		return all
	}
	check(t, "one other namespace", limits.Storm(us, failing("till", "till", "till", "till", "till", "till", "till"), now), 0, "")
	check(t, "one other namespace, and a few here", limits.Storm(us, failing("till", "till", "till", "till", "shop", "shop"), now), 0, "")
	check(t, "others and here", limits.Storm(us, failing("till", "till", "till", "shop", "shop", "shop"), now), 4*time.Minute, "5 executions failed")
	check(t, "three other namespaces", limits.Storm(us, failing("a", "b", "c", "a", "b", "c"), now), 5*time.Minute, "6 executions failed")
}

// check compares a brake with how long it should hold. It opens by itself when that time is over.
func check(t *testing.T, name string, c *Closed, left time.Duration, says string) {
	t.Helper()
	message, is := c.At(now)
	switch {
	case is != (left > 0):
		t.Errorf("%s: held %t: %s", name, is, message)
	case !is:
	case c.Until.Sub(now) != left:
		t.Errorf("%s: held for %s, want %s", name, c.Until.Sub(now), left)
	case !strings.HasPrefix(message, "Waiting until "+c.Until.Format(time.RFC3339)+": "+says):
		t.Errorf("%s: %s", name, message)
	}
	if _, is := c.At(now.Add(left)); is {
		t.Errorf("%s: it does not open", name)
	}
}

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Second: "1m30s", 5 * time.Second: "5s", 70 * time.Minute: "1h10m"} {
		if got := words(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
