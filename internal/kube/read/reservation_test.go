package read

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// TestAMarkIsRead, whoever holds the Lease. What cannot be read is a mark all the same: to take it for none would let an
// operation begin on a target that nobody has looked at.
func TestAMarkIsRead(t *testing.T) {
	us, other := Ref{Kind: "Lamp.test", Name: "us", UID: "1"}, Ref{Kind: "Lamp.test", Name: "other", UID: "2"}
	mark := &reserve.Unresolved{By: other, Requester: "dora"}
	const written = `{"by":"Lamp.test//other/2","requester":"dora"}`
	for name, tc := range map[string]struct {
		holder      string
		annotations map[string]string
		want        reserve.Fact
	}{
		"no mark":                       {"", nil, reserve.Fact{State: reserve.Free}},
		"a mark on a free target":       {"", map[string]string{UnresolvedAnnotation: written}, reserve.Fact{State: reserve.Free, Unresolved: mark}},
		"a mark on our target":          {us.String(), map[string]string{UnresolvedAnnotation: written}, reserve.Fact{State: reserve.Ours, Unresolved: mark}},
		"a mark on a target of another": {other.String(), map[string]string{UnresolvedAnnotation: written}, reserve.Fact{State: reserve.Others, Holder: "Lamp other", Unresolved: mark}},
		"a mark that was cut off":       {"", map[string]string{UnresolvedAnnotation: written[:20]}, reserve.Fact{State: reserve.Free, Unresolved: &reserve.Unresolved{}}},
		"a mark of no object":           {"", map[string]string{UnresolvedAnnotation: `{"by":"dora"}`}, reserve.Fact{State: reserve.Free, Unresolved: &reserve.Unresolved{}}},
		"an empty mark":                 {"", map[string]string{UnresolvedAnnotation: ""}, reserve.Fact{State: reserve.Free, Unresolved: &reserve.Unresolved{}}},
	} {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
		if tc.holder != "" {
			lease.Spec.HolderIdentity = ptr.To(tc.holder)
		}
		r := Reservations{Alive: func(context.Context, Ref) (bool, error) { return true, nil }}
		is, err := r.Judge(t.Context(), lease)
		if diff := cmp.Diff(tc.want, is.For(us)); diff != "" || err != nil {
			t.Errorf("%s: %s, %v", name, diff, err)
		}
	}
}

// TestAFamilySharesATarget, while the member that holds it may still be at work. What another of its kind holds is not ours.
func TestAFamilySharesATarget(t *testing.T) {
	child, parent := Ref{Kind: "Lamp.test", Name: "child", UID: "1"}, Ref{Kind: "Chandelier.test", Name: "parent", UID: "2"}
	other := Ref{Kind: "Chandelier.test", Name: "parent", UID: "3"} // by the same name
	for name, tc := range map[string]struct {
		is   Reservation
		want reserve.State
	}{
		"held by itself":                   {Reservation{Holder: child}, reserve.Ours},
		"held by its parent":               {Reservation{Holder: parent}, reserve.Ours},
		"held by a parent that has ended":  {Reservation{Holder: parent, Abandoned: true}, reserve.Free},
		"held by another of the same name": {Reservation{Holder: other}, reserve.Others},
		"held by no object":                {Reservation{}, reserve.Free},
		"held by itself, which rests":      {Reservation{Holder: child, Abandoned: true}, reserve.Ours},
	} {
		if got := tc.is.For(child, parent).State; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	if got := (Reservation{Holder: parent}).For(child).State; got != reserve.Others {
		t.Errorf("without a family: %s", got)
	}
}
