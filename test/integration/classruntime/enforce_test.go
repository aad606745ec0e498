package classruntime

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// set writes a number as a lane does.
func (h *hands) set(from, to int32, retake bool) error {
	e := class.Scale{Function: "add", Ref: class.Ref{Kind: class.KindDeployment, Name: "cart-add", UID: string(h.deployment("add").UID)}, From: from, To: to, Retake: retake}
	_, err := h.Act(h.Context(), h.class, e)
	return err
}

// TestALaneSetsReplicas: what a lane decided is written by one request, only for the number that it was decided for, and over no other owner.
// A watch sees every number, and none falls that no lane asked for.
func TestALaneSetsReplicas(t *testing.T) {
	s := newStage(t)
	h := newHands(s)
	ours, lane := child.Manager(ownership.SpecController), child.Manager(ownership.LaneController)
	h.wants("made", h.apply(nil, false), 2, ours)
	seen := s.watch()
	if err := h.set(2, 4, false); err != nil {
		t.Fatal(err)
	}
	h.wants("a lane adds", *h.deployment("add").Spec.Replicas, 4, lane)
	if err := h.set(2, 3, false); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("a number that was decided for 2 replicas: %v", err)
	}
	h.wants("an edit of the spec", h.apply(ptr.To(int32(2)), false), 4, lane)
	h.wants("the spec asks for more", h.apply(ptr.To(int32(5)), false), 5, lane)
	s.scale("kubectl", 8)
	if err := h.set(8, 6, false); fsm.ClassOf(err) != fsm.Contested || fsm.ReasonOf(err) != enforce.ReasonConflict {
		t.Errorf("the number of a person: %v (%s)", err, fsm.ReasonOf(err))
	}
	h.wants("a person", *h.deployment("add").Spec.Replicas, 8, "kubectl")
	if err := h.set(8, 6, true); err != nil {
		t.Fatal(err)
	}
	h.wants("taken back", *h.deployment("add").Spec.Replicas, 6, lane)
	s.create(s.autoscaler("theirs"))
	if err := h.set(6, 7, false); fsm.ClassOf(err) != fsm.Changed {
		t.Errorf("an autoscaler governs: %v", err)
	}
	seen.are(t, 2, 4, 5, 8, 6)
}
