package spec

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
)

func carries(n string) *runtimev1.Capacity {
	return &runtimev1.Capacity{RPSPerReplica: resource.MustParse(n)}
}

// TestCapacityReplacesThatOfTheClass, and nothing else does.
func TestCapacityReplacesThatOfTheClass(t *testing.T) {
	c := &runtimev1.ClassRuntime{}
	c.Spec.Requirements = &runtimev1.Requirements{MinThroughputRPS: 20, MaxLatencyMillis: 250, AvailabilityPercent: "99.9", Capacity: carries("50")}
	want := Needs{Requirements: capacity.Requirements{MinRPS: 20, MaxLatency: 250 * time.Millisecond, Availability: 0.9990000000000001}, PerReplica: 50, Percentile: 95}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if diff := cmp.Diff(want, NeedsOf(c, &runtimev1.Function{}), near); diff != "" {
		t.Errorf("those of the class: %s", diff)
	}
	f := &runtimev1.Function{Requirements: &runtimev1.FunctionRequirements{Capacity: carries("0.5")}}
	want.PerReplica = 0.5
	if diff := cmp.Diff(want, NeedsOf(c, f), near); diff != "" {
		t.Errorf("that of a function: %s", diff)
	}
	c.Spec.Requirements.AvailabilityPercent, f.Requirements.Capacity = "0", carries("-3")
	if n := NeedsOf(c, f); n.Invalid == "" || n.PerReplica != 0 {
		t.Errorf("nonsense is believed: %+v", n)
	}
}

func TestWhenSomethingIsObserved(t *testing.T) {
	for what, tc := range map[string]struct {
		telemetry   *runtimev1.Telemetry
		enforcement *runtimev1.Enforcement
		mode        runtimev1.Mode
		source      string
	}{
		"nothing is said":             {nil, nil, runtimev1.ModeOff, ""},
		"a source is named":           {&runtimev1.Telemetry{Source: "main"}, nil, runtimev1.ModeObserve, "main"},
		"a source, and a limit":       {&runtimev1.Telemetry{Source: "main"}, &runtimev1.Enforcement{StaleAfterSeconds: 60}, runtimev1.ModeObserve, "main"},
		"a source, switched off":      {&runtimev1.Telemetry{Source: "main"}, &runtimev1.Enforcement{Mode: runtimev1.ModeOff}, runtimev1.ModeOff, ""},
		"requirements without source": {nil, &runtimev1.Enforcement{Mode: runtimev1.ModeObserve}, runtimev1.ModeObserve, ""},
	} {
		c := &runtimev1.ClassRuntime{Spec: runtimev1.ClassRuntimeSpec{Telemetry: tc.telemetry, Enforcement: tc.enforcement}}
		if m, s := ModeOf(c), SourceOf(c); m != tc.mode || s != tc.source {
			t.Errorf("%s: %s by %q", what, m, s)
		}
	}
	if got := StaleAfter(&runtimev1.ClassRuntime{}); got != 3*time.Minute {
		t.Errorf("stale after %s", got)
	}
}
