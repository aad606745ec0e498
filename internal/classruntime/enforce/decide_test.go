package enforce

import (
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

var now = time.Unix(1e9, 0)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// settings are the defaults.
func settings() Settings {
	return Settings{
		Mode: Enforce, Min: 2, Max: 20, MinConfidence: 70, StaleAfter: 3 * time.Minute,
		Up:   Pace{30 * time.Second, 30 * time.Second, 100},
		Down: Pace{5 * time.Minute, 2 * time.Minute, 30},
	}
}

// input is a lane with so many replicas applied, for which so many have been recommended since some time.
func input(applied, wanted int32, since time.Duration) Input {
	in := Input{
		Settings: settings(), Current: true, Now: now, Applied: &applied, Phase: Steady,
		Recommended: &capacity.Recommendation{Replicas: wanted, Confidence: 90, Measured: true},
		Evidence:    Evidence{SampledAt: ago(10 * time.Second)},
	}
	l := Lane{Target: wanted, Low: wanted, High: wanted, Since: ago(since)}
	switch {
	case wanted > applied:
		l.Direction = Up
	case wanted < applied:
		l.Direction = Down
	default:
		l.Since = time.Time{}
	}
	in.Lane = l
	return in
}

func (in Input) but(change func(*Input)) Input {
	r := *in.Recommended
	in.Recommended = &r
	change(&in)
	return in
}

func TestDecide(t *testing.T) {
	const long = time.Hour
	for name, tc := range map[string]struct {
		in     Input
		phase  fsm.Phase
		apply  int32 // 0 is nothing
		reason fsm.Reason
		after  time.Duration
	}{
		// The document's order: mode, limits, direction, cooldown, stability.
		"mode observe":            {input(3, 8, long).but(func(in *Input) { in.Mode = Observe }), Steady, 0, ReasonNotEnforced, 0},
		"mode off":                {input(3, 8, long).but(func(in *Input) { in.Mode = Off }), Steady, 0, ReasonNotEnforced, 0},
		"no mode":                 {input(3, 8, long).but(func(in *Input) { in.Mode = "" }), Steady, 0, ReasonNotEnforced, 0},
		"a new target waits":      {input(3, 8, 0), Rising, 0, ReasonStability, 30 * time.Second},
		"for its stability":       {input(3, 8, 29*time.Second), Rising, 0, ReasonStability, time.Second},
		"and is applied":          {input(3, 5, 30*time.Second), Rising, 5, ReasonApplying, 171 * time.Second},
		"by no more than a step":  {input(3, 8, long), Rising, 6, ReasonApplying, 171 * time.Second},
		"which is at least one":   {input(3, 8, long).but(func(in *Input) { in.Up.StepPercent = 0 }), Rising, 4, ReasonApplying, 171 * time.Second},
		"also from none":          {input(0, 8, long).but(func(in *Input) { in.Min = 0 }), Rising, 1, ReasonApplying, 171 * time.Second},
		"down it waits longer":    {input(10, 4, 299*time.Second), Falling, 0, ReasonStability, time.Second},
		"and goes slower":         {input(10, 4, 300*time.Second), Falling, 7, ReasonApplying, 171 * time.Second},
		"down by one at least":    {input(3, 2, long), Falling, 2, ReasonApplying, 171 * time.Second},
		"already applied":         {input(8, 8, long), Steady, 0, ReasonEnforced, 171 * time.Second},
		"cooling after a change":  {input(3, 8, long).but(func(in *Input) { in.Lane.AppliedAt = ago(29 * time.Second) }), Cooling, 0, ReasonCooldown, time.Second},
		"no longer than that":     {input(3, 8, long).but(func(in *Input) { in.Lane.AppliedAt = ago(30 * time.Second) }), Rising, 6, ReasonApplying, 171 * time.Second},
		"longer on the way down":  {input(10, 4, long).but(func(in *Input) { in.Lane.AppliedAt = ago(119 * time.Second) }), Cooling, 0, ReasonCooldown, time.Second},
		"cooling, not yet stable": {input(3, 8, 0).but(func(in *Input) { in.Lane.AppliedAt = ago(20 * time.Second) }), Cooling, 0, ReasonCooldown, 10 * time.Second},
		"no cooldown is a moment": {input(3, 8, long).but(func(in *Input) { in.Up.Cooldown, in.Lane.AppliedAt = 0, now }), Cooling, 0, ReasonCooldown, time.Second},
		"a floor of Knative comes down once an hour": {input(10, 4, long).but(func(in *Input) {
			in.Settings, in.Lane.AppliedAt = in.ForRevisions(), ago(59*time.Minute)
		}), Cooling, 0, ReasonCooldown, time.Minute},
		"and goes up as any": {input(3, 8, long).but(func(in *Input) { in.Settings, in.Lane.AppliedAt = in.ForRevisions(), ago(time.Minute) }), Rising, 6, ReasonApplying, 171 * time.Second},

		// Limits.
		"above the limit":               {input(18, 20, long).but(func(in *Input) { in.Recommended.Replicas = 90 }), Rising, 20, ReasonApplying, 171 * time.Second},
		"above the limit, waiting":      {input(18, 20, 0).but(func(in *Input) { in.Recommended.Replicas = 90 }), Rising, 0, ReasonClampedMax, 30 * time.Second},
		"at the limit":                  {input(20, 20, long).but(func(in *Input) { in.Recommended.Replicas = 90 }), Steady, 0, ReasonEnforced, 171 * time.Second},
		"below what the spec asks":      {input(3, 2, long).but(func(in *Input) { in.Recommended.Replicas = 1 }), Falling, 2, ReasonApplying, 171 * time.Second},
		"at what the spec asks":         {input(2, 2, long).but(func(in *Input) { in.Recommended.Replicas = 1 }), Steady, 0, ReasonEnforced, 171 * time.Second},
		"far below":                     {input(5, 2, long).but(func(in *Input) { in.Recommended.Replicas = 1 }), Falling, 4, ReasonApplying, 171 * time.Second},
		"the spec asks for too many":    {input(25, 25, long).but(func(in *Input) { in.Min, in.Recommended.Replicas = 25, 90 }), Steady, 0, ReasonEnforced, 171 * time.Second},
		"over a limit that was lowered": {input(30, 20, long).but(func(in *Input) { in.Recommended.Replicas = 30 }), Falling, 21, ReasonApplying, 171 * time.Second},

		// Evidence.
		"nothing is recommended":       {input(3, 8, long).but(func(in *Input) { in.Recommended = nil }), Steady, 0, ReasonNoTarget, 0},
		"the child was not read":       {input(3, 8, long).but(func(in *Input) { in.Applied = nil }), Steady, 0, ReasonNoTarget, 0},
		"of another generation":        {input(3, 8, long).but(func(in *Input) { in.Current = false }), Steady, 0, ReasonStale, 0},
		"of samples that are too old":  {input(3, 8, long).but(func(in *Input) { in.Evidence.SampledAt = ago(181 * time.Second) }), Steady, 0, ReasonStale, 0},
		"just not too old":             {input(3, 8, long).but(func(in *Input) { in.Evidence.SampledAt = ago(180 * time.Second) }), Rising, 6, ReasonApplying, time.Second},
		"a requirement is never old":   {input(3, 8, long).but(func(in *Input) { in.Recommended.Measured, in.Evidence = false, Evidence{} }), Rising, 6, ReasonApplying, 0},
		"too little confidence":        {input(3, 8, long).but(func(in *Input) { in.Recommended.Confidence = 69 }), Rising, 0, ReasonLowConfidence, 171 * time.Second},
		"just enough":                  {input(3, 8, long).but(func(in *Input) { in.Recommended.Confidence = 70 }), Rising, 6, ReasonApplying, 171 * time.Second},
		"a doubt of growth":            {input(3, 8, long).but(func(in *Input) { in.Evidence.DoubtOfGrowth = "No." }), Rising, 0, ReasonDoubt, 171 * time.Second},
		"is none of shrinking":         {input(10, 8, long).but(func(in *Input) { in.Evidence.DoubtOfGrowth = "No." }), Falling, 8, ReasonApplying, 171 * time.Second},
		"a doubt of shrinking":         {input(10, 4, long).but(func(in *Input) { in.Evidence.DoubtOfShrinking = "No." }), Falling, 0, ReasonDoubt, 171 * time.Second},
		"is none of growth":            {input(3, 8, long).but(func(in *Input) { in.Evidence.DoubtOfShrinking = "No." }), Rising, 6, ReasonApplying, 171 * time.Second},
		"a requirement needs no proof": {input(10, 8, long).but(func(in *Input) { in.Recommended.Measured, in.Evidence.DoubtOfShrinking = false, "No." }), Falling, 8, ReasonApplying, 0},

		// Ownership.
		"another owner has the field":    {input(3, 8, long).but(func(in *Input) { in.Taken = "kubectl" }), Yielded, 0, ReasonConflict, 0},
		"a lane that yielded stays so":   {input(3, 8, long).but(func(in *Input) { in.Phase = Yielded }), Yielded, 0, ReasonConflict, 0},
		"until a person takes it back":   {input(3, 8, long).but(func(in *Input) { in.Phase, in.Taken, in.Retaken = Yielded, "kubectl", true }), Rising, 6, ReasonApplying, 171 * time.Second},
		"it does not matter for observe": {input(3, 8, long).but(func(in *Input) { in.Mode, in.Taken = Observe, "kubectl" }), Steady, 0, ReasonNotEnforced, 0},
	} {
		d := Decide(tc.in)
		if d.Apply != (tc.apply != 0) || d.Apply && d.To != tc.apply || d.Phase != tc.phase || d.Reason != tc.reason || d.After != tc.after {
			t.Errorf("%s: %+v", name, d)
		}
		if !strings.HasSuffix(d.Message, ".") || strings.Contains(d.Message, "%!") {
			t.Errorf("%s says %q", name, d.Message)
		}
	}
}

// The band: going up the least target of the window is applied, going down the greatest.
func TestTheBand(t *testing.T) {
	for name, tc := range map[string]struct {
		applied int32
		targets []int32 // one every 15 s; the last is now
		want    Lane    // without times
		since   int     // when the window began, counted in targets
		apply   int32
	}{
		"noise on the way up":             {10, []int32{14, 13, 15, 14}, Lane{Target: 14, Direction: Up, Low: 13, High: 15}, 0, 13},
		"a single target says little":     {10, []int32{11, 19, 19, 19}, Lane{Target: 19, Direction: Up, Low: 11, High: 19}, 0, 11},
		"a flip begins anew":              {10, []int32{14, 14, 9, 14}, Lane{Target: 14, Direction: Up, Low: 14, High: 14}, 3, 0},
		"so does what is applied already": {10, []int32{14, 14, 10, 14}, Lane{Target: 14, Direction: Up, Low: 14, High: 14}, 3, 0},
		"another number does not":         {10, []int32{14, 15, 16, 17}, Lane{Target: 17, Direction: Up, Low: 14, High: 17}, 0, 14},
		"nothing wanted":                  {10, []int32{14, 14, 14, 10}, Lane{Target: 10, Low: 10, High: 10}, -1, 0},
		"noise on the way down":           {10, append(make20(5), 6, 5), Lane{Target: 5, Direction: Down, Low: 5, High: 6}, 0, 7},
		"the greatest on the way down":    {10, append(make20(5), 9, 5), Lane{Target: 5, Direction: Down, Low: 5, High: 9}, 0, 9},
	} {
		in := input(tc.applied, tc.applied, 0)
		in.Min, in.Lane = 1, Lane{}
		begin := now.Add(-15 * time.Second * time.Duration(len(tc.targets)-1))
		for i, n := range tc.targets {
			in.Now = begin.Add(15 * time.Second * time.Duration(i))
			in.Evidence.SampledAt = in.Now
			in.Recommended.Replicas = n
			in.Lane = in.Next()
		}
		if tc.since >= 0 {
			tc.want.Since = begin.Add(15 * time.Second * time.Duration(tc.since))
		}
		if in.Lane != tc.want {
			t.Errorf("%s: %+v", name, in.Lane)
		}
		if d := Decide(in); d.Apply != (tc.apply != 0) || d.Apply && d.To != tc.apply {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func make20(n int32) (list []int32) {
	for range 20 {
		list = append(list, n)
	}
	return list
}

// After a step the window goes on while it has more to say, and begins anew once its edge is reached.
func TestTheWindowAfterAStep(t *testing.T) {
	in := input(3, 10, time.Minute)
	d := Decide(in)
	lane, six := in.Next().Took(d.To, *in.Applied, now), int32(6)
	if d.To != six || lane.Applied != six || lane.Previous != 3 || !lane.AppliedAt.Equal(now) {
		t.Fatalf("%+v, %+v", d, lane)
	}
	in.Lane, in.Applied, in.Now, in.Evidence.SampledAt = lane, &six, now.Add(30*time.Second), now
	if d := Decide(in); !d.Apply || d.To != 10 {
		t.Errorf("with 10 wanted all the time, after the cooldown: %+v", d)
	}
	in.Lane.Low = six
	if d := Decide(in); d.Apply || d.Reason != ReasonStability || in.Next().Since != in.Now {
		t.Errorf("with 6 wanted at first: %+v", d)
	}
	in.Lane.Low = 10
	for _, live := range []int32{10, 12} { // another owner went further
		in.Applied = &live
		if d := Decide(in); d.Apply {
			t.Errorf("with %d applied by another: %+v", live, d)
		}
	}
}

// What was measured is forgotten with the window: after an outage one look is not enough.
func TestAnOutageEndsTheWindow(t *testing.T) {
	in := input(3, 8, time.Hour)
	in.Evidence.SampledAt = ago(time.Hour)
	if in.Lane = in.Next(); in.Lane.Direction != None || !in.Lane.Since.IsZero() {
		t.Fatalf("%+v", in.Lane)
	}
	in.Evidence.SampledAt = now
	if d := Decide(in); d.Apply || d.Reason != ReasonStability {
		t.Errorf("%+v", d)
	}
}

func TestEvidenceOf(t *testing.T) {
	f := load.Facts{Traffic: load.Silent, Pods: 1, SampledAt: now, Interval: time.Second}
	if e := EvidenceOf(f, load.Pods{Ready: 1, Youngest: time.Hour}, now); !e.SampledAt.Equal(now) || e.DoubtOfGrowth != "" || e.DoubtOfShrinking == "" {
		t.Errorf("%+v", e)
	}
}
