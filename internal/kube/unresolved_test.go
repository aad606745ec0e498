package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

const (
	ourMark    = `{"by":"ConfigMap./shop/us/uid of us","requester":"bob"}`
	brokenMark = `{"by":`
	noLease    = "no Lease" // in place of a holder
)

// TestAMarkIsSetAndRemoved: each effect is performed twice, because the answer to the first may be lost.
func TestAMarkIsSetAndRemoved(t *testing.T) {
	marks, resolves := reserve.MarkUnresolved{Target: reservedTarget, Requester: "bob"}, reserve.Resolve{Target: reservedTarget, Of: us.UID}
	for name, tc := range map[string]struct {
		holder, mark string
		do           fsm.Effect
		want         string
		class        fsm.ErrorClass
	}{
		"a target that we hold is marked":               {us.String(), "", marks, ourMark, ""},
		"a target that nobody holds is marked":          {"", "", marks, ourMark, ""},
		"a target that another holds is marked":         {another.String(), "", marks, ourMark, ""},
		"a target without a Lease is marked":            {noLease, "", marks, ourMark, ""},
		"a mark of another is not overwritten":          {us.String(), otherMark, marks, otherMark, ""},
		"a mark that cannot be read is not overwritten": {us.String(), brokenMark, marks, brokenMark, ""},
		"our mark is removed":                           {"", ourMark, resolves, "", ""},
		"our mark is removed while another holds":       {another.String(), ourMark, resolves, "", ""},
		"a mark of another is not removed":              {"", otherMark, resolves, otherMark, ""},
		"there is no mark":                              {us.String(), "", resolves, "", ""},
		"there is no Lease":                             {noLease, "", resolves, noLease, ""},
		"a mark that cannot be read is not removed":     {"", brokenMark, resolves, brokenMark, fsm.Changed},
		"nobody's mark is not removed":                  {"", brokenMark, reserve.Resolve{Target: reservedTarget}, brokenMark, fsm.Changed},
		"a released target stays marked":                {us.String(), ourMark, reserve.Release{Target: reservedTarget}, ourMark, ""},
	} {
		r, c := reserving(t)
		if tc.holder != noLease {
			r, c = reserving(t, leaseOfTarget(tc.holder, tc.mark))
		}
		for range 2 {
			known, err := r.perform(t.Context(), us, tc.do)
			if failed := err != nil; !known || failed != (tc.class != "") || failed && (fsm.ClassOf(err) != tc.class || fsm.StatusMessage(err) == "") {
				t.Errorf("%s: %t, %v", name, known, err)
			}
		}
		lease := storedLease(t, c)
		if lease == nil || tc.want == noLease {
			if lease != nil || tc.want != noLease {
				t.Errorf("%s: the Lease is %+v", name, lease)
			}
			continue
		}
		want := leaseOfTarget("", tc.want)
		if diff := cmp.Diff(want.Annotations, lease.Annotations) + cmp.Diff(want.Labels, lease.Labels); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if _, releases := tc.do.(reserve.Release); !releases && tc.holder != noLease && holderOf(lease) != tc.holder {
			t.Errorf("%s: %q holds it now", name, holderOf(lease))
		}
	}
}

// TestAMarkOutlivesWhoMadeIt: the object that marked the target is deleted, and another takes the target.
func TestAMarkOutlivesWhoMadeIt(t *testing.T) {
	r, c := reserving(t)
	for _, do := range []fsm.Effect{reserve.Take{Target: reservedTarget}, reserve.MarkUnresolved{Target: reservedTarget, Requester: "bob"}} {
		if _, err := r.perform(t.Context(), us, do); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Delete(t.Context(), configMapNamed("us")); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Sweep(t.Context(), AnyKind); err != nil || n != 0 {
		t.Errorf("swept %d: %v", n, err)
	}
	mark := &reserve.Unresolved{By: us, Requester: "bob"}
	sees := func(want reserve.State) {
		t.Helper()
		res, err := r.Of(t.Context(), reservedTarget.UID)
		if diff := cmp.Diff(reserve.Fact{State: want, Unresolved: mark}, res.For(another)); diff != "" || err != nil {
			t.Errorf("%s, %v", diff, err)
		}
	}
	sees(reserve.Free)
	if err := r.Take(t.Context(), reservedTarget, another); err != nil {
		t.Fatal(err)
	}
	sees(reserve.Ours)
	mark = nil
	if _, err := r.perform(t.Context(), another, reserve.Resolve{Target: reservedTarget, Of: us.UID}); err != nil {
		t.Fatal(err)
	}
	sees(reserve.Ours)
}

// TestAMarkIsMadeByCompareAndSwap: another mark that came in between is not lost.
func TestAMarkIsMadeByCompareAndSwap(t *testing.T) {
	r, c := reserving(t, leaseOfTarget("", ""))
	first := r
	first.Live = read.Live{Reader: before{first.Live, func() {
		if err := r.MarkUnresolved(t.Context(), reservedTarget, reserve.Unresolved{By: another, Requester: "dora"}); err != nil {
			t.Fatal(err)
		}
	}}}
	err := first.MarkUnresolved(t.Context(), reservedTarget, reserve.Unresolved{By: us, Requester: "bob"})
	if text := storedLease(t, c).Annotations[read.UnresolvedAnnotation]; fsm.ClassOf(err) != fsm.Changed || text != otherMark {
		t.Errorf("%s, %v", text, err)
	}
}
