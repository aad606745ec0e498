package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// claimsOf are the claims of a cluster of a shape.
func claimsOf(s Shape) (claims []Claim) {
	for shard, replicas := range s {
		for ordinal := range 1 + replicas {
			name := fmt.Sprintf("data-web-%d-%d", shard, ordinal)
			claims = append(claims, Claim{Name: name, Shard: shard, Ordinal: ordinal, UID: "uid of " + name, Version: "1", Used: true})
		}
	}
	return claims
}

// Only claims that were released, by proof, and have no pod any more are deleted, and never those of servers that the cluster has.
func TestWhichClaimsGo(t *testing.T) {
	released := func(c *Claim) { c.Released, c.Used = true, false }
	for name, tc := range map[string]struct {
		shard, ordinal int
		change         func(*Claim)
		want           string
	}{
		"of a server that was removed":         {0, 2, released, "delete-claim data-web-0-2"},
		"of a shard that was removed":          {3, 0, released, "delete-claim data-web-3-0"},
		"its pod is still there":               {0, 2, func(c *Claim) { c.Released = true }, ""},
		"it goes already":                      {0, 2, func(c *Claim) { released(c); c.Leaving = true }, ""},
		"scaled by hand":                       {0, 2, func(c *Claim) { c.Used = false }, ""},
		"of a server that stays after all":     {0, 1, func(c *Claim) { c.Released = true }, "keep-claim data-web-0-1"},
		"of a server that stays, without pod":  {0, 1, released, "keep-claim data-web-0-1"},
		"smaller than the spec":                {0, 1, func(c *Claim) { c.Small = true }, "grow-claim data-web-0-1"},
		"smaller, of a server that is removed": {0, 2, func(c *Claim) { c.Small = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, w := newCluster(), clone(made()[len(made())-1].world)
			w.Claims = claimsOf(w.Shape)
			claim := Claim{Name: fmt.Sprintf("data-web-%d-%d", tc.shard, tc.ordinal), Shard: tc.shard, Ordinal: tc.ordinal, Used: true}
			at := len(w.Claims)
			for i := range w.Claims {
				if w.Claims[i].Name == claim.Name {
					at = i
				}
			}
			tc.change(&claim)
			w.Claims = append(w.Claims[:at:at], append([]Claim{claim}, w.Claims[min(at+1, len(w.Claims)):]...)...)
			var got []string
			for _, e := range maintain(input{Obj: c, World: w, Now: present}) {
				if strings.Contains(e.String(), "claim") {
					got = append(got, e.String())
				}
			}
			if strings.Join(got, ", ") != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// A storage class may refuse larger volumes for ever: what else an edit asks for is done before.
func TestVolumesGrowLast(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	edited(&w, 1)
	w.Claims = claimsOf(w.Shape)
	w.Claims[0].Small = true
	var got []string
	for _, e := range maintain(input{Obj: c, World: w, Now: present}) {
		got = append(got, e.String())
	}
	if strings.Join(got, ", ") != "make-upgrade web-template, grow-claim data-web-0-0" {
		t.Errorf("%q", got)
	}
}

// Why volumes do not grow is in the status, in the words of who refuses it.
func TestARefusedGrowthIsTold(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.ObservedGeneration = Running, 1
	w.Reservation.State = reserve.Free
	w.Claims = claimsOf(w.Shape)
	w.Claims[0].Small = true
	in := input{Obj: c, World: w, Now: present}
	step, err := Machine.Step(in)
	if err != nil || len(step.Decision.Do) != 1 {
		t.Fatalf("%v: %v", step.Decision.Do, err)
	}
	const words = "The class does not allow it."
	refused := fsm.Outcome{Effect: step.Decision.Do[0], Err: &fsm.Error{Class: fsm.Refused, Err: errors.New("forbidden"), Reason: "Refused", Say: words}}
	out := Machine.Reduce(in, step, []fsm.Outcome{refused}).Obj
	if ready := apimeta.FindStatusCondition(out.Status.Conditions, fsm.Ready); ready.Status != metav1.ConditionFalse || ready.Reason != "Refused" || ready.Message != words {
		t.Errorf("Ready is %+v", ready)
	}
}

// A server that is added does not get the volume of one that was removed.
func TestOldClaimsGoFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		old    Claim
		reason fsm.Reason
		do     string
	}{
		"released":                        {Claim{Released: true}, ReasonOldClaims, "delete-claim data-web-0-2"},
		"released, with its pod":          {Claim{Released: true, Used: true}, ReasonOldClaims, ""},
		"going":                           {Claim{Released: true, Leaving: true}, ReasonOldClaims, ""},
		"kept when it was scaled by hand": {Claim{}, ReasonApplying, "apply StatefulSet web-0"},
	} {
		t.Run(name, func(t *testing.T) {
			c, w := sized(newCluster(), Even(3, 2)), clone(made()[len(made())-1].world)
			tc.old.Name, tc.old.Ordinal = "data-web-0-2", 2
			w.Claims = append(claimsOf(w.Shape), tc.old)
			d := decideScalingUpStatefulSet(input{Obj: c, World: w, Now: present})
			if d.Reason != tc.reason || len(d.Do) > 0 != (tc.do != "") || tc.do != "" && !strings.HasPrefix(d.Do[0].String(), tc.do) {
				t.Errorf("%s: %v: %s", d.Reason, d.Do, d.Message)
			}
		})
	}
}

// Volumes that are about to go, or not as large as they should be, are told.
func TestVolumesInTroubleAreTold(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Claim)
		words  string
		ready  bool
	}{
		"all is well":      {func(*Claim) {}, "", true},
		"being deleted":    {func(c *Claim) { c.Leaving = true }, "Claim data-web-0-0 is being deleted", true},
		"being made large": {func(c *Claim) { c.Resizing = "FileSystemResizePending" }, "(FileSystemResizePending)", false},
	} {
		c := concluded(t, Running, func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Claims = claimsOf(w.Shape)
			tc.change(&w.Claims[0])
			if got := volumeTrouble(*w); !strings.Contains(got, tc.words) || tc.words == "" && got != "" {
				t.Errorf("%s: %q", name, got)
			}
		})
		if ready := c.Status.WaitingFor == ""; ready != tc.ready {
			t.Errorf("%s: waits for %q", name, c.Status.WaitingFor)
		}
	}
}
