package observe

import (
	"testing"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Owners are read where something depends on them, and nowhere else: each is a request to the API server.
func TestWhenOwnersAreRead(t *testing.T) {
	for what, c := range map[string]struct {
		mode  runtimev1.Mode
		phase fsm.Phase
		field ownership.Field
		want  bool
	}{
		"the number of the spec":            {runtimev1.ModeObserve, "", ownership.Field{Live: 2, Want: 2}, false},
		"another number":                    {runtimev1.ModeObserve, "", ownership.Field{Live: 3, Want: 2}, true},
		"an autoscaler":                     {runtimev1.ModeEnforce, enforce.Rising, ownership.Field{Live: 3, Want: 2, Engine: "x"}, false},
		"an autoscaler of what was stopped": {runtimev1.ModeObserve, "", ownership.Field{Live: 0, Want: 2, Engine: "x"}, true},
		"a lane that has not begun":         {runtimev1.ModeEnforce, "", ownership.Field{Live: 2, Want: 2}, false},
		"a lane that begins elsewhere":      {runtimev1.ModeEnforce, "", ownership.Field{Live: 3, Want: 2}, true},
		"a lane that rests":                 {runtimev1.ModeEnforce, enforce.Steady, ownership.Field{Live: 6, Want: 2}, false},
		"fewer than the spec asks for":      {runtimev1.ModeEnforce, enforce.Steady, ownership.Field{Live: 1, Want: 2}, true},
		"stopped":                           {runtimev1.ModeEnforce, enforce.Steady, ownership.Field{Live: 0, Want: 0}, true},
		"a lane that is to write":           {runtimev1.ModeEnforce, enforce.Rising, ownership.Field{Live: 2, Want: 2}, true},
		"a lane that has yielded":           {runtimev1.ModeEnforce, enforce.Yielded, ownership.Field{Live: 2, Want: 2}, true},
		"a lane of before, in mode observe": {runtimev1.ModeObserve, enforce.Rising, ownership.Field{Live: 2, Want: 2}, false},
	} {
		class := &runtimev1.ClassRuntime{}
		class.Spec.Enforcement = &runtimev1.Enforcement{Mode: c.mode}
		class.Status.Enforcement = []runtimev1.EnforcementStatus{{Function: "add", Dimension: runtimev1.DimensionReplicas, Place: meta.Place{Phase: c.phase}}}
		if got := dependsOnOwners(class, "add", c.field); got != c.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
