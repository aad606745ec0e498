package request

import (
	"testing"
	"time"
)

// TestAMarkProvesNoIdentity: users can write the mark that precedes the first execution while the admission policies are missing.
func TestAMarkProvesNoIdentity(t *testing.T) {
	rr, w := object(), world()
	rr.Status.Phase = Pending
	w.Begun, w.Unproven = true, "No admission policy checked who made the request."
	step, err := Machine.Step(input{Obj: rr, World: w, Now: createdAt.Add(time.Second)})
	if err != nil || len(step.Hops) != 1 || step.Hops[0].Event != IdentityUnproven {
		t.Errorf("%+v, %s, %v", step.Hops, step.Decision.Reason, err)
	}
}
