package cluster

import (
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// A change of size that waits for an upgrade says so, and for whom.
func TestAChangeOfSizeSaysThatItWaits(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.Since, c.Status.ObservedGeneration = Running, *ago(time.Minute), 1
	c.Spec.Masters = 4
	w.Upgrade, w.Reservation = &Upgrade{Name: "web-to-9"}, reserve.Fact{State: reserve.Others, Holder: "ValkeyUpgrade shop/web-to-9"}
	in := input{Obj: c, World: w, Now: present}
	ready := apimeta.FindStatusCondition(conditions(in, decideRunning(in)), fsm.Ready)
	if ready == nil || ready.Reason != string(ReasonReservedByOther) || !strings.Contains(ready.Message, "web-to-9") {
		t.Errorf("Ready is %+v", ready)
	}
}

// What is in the way is said when it lasts: while a cluster is made it is something else at every look.
func TestWhatIsInTheWayIsSaidWhenItLasts(t *testing.T) {
	in := standsAs(Even(3, 1), Even(3, 1))
	in.Now, in.Obj.Status.Since = present, *ago(raiseEpochAfter - time.Second)
	if got := atLength(in, "all to agree", "one is called failed"); got != "all to agree." {
		t.Error(got)
	}
	in.Obj.Status.Since = *ago(raiseEpochAfter)
	if got := atLength(in, "all to agree", "one is called failed"); got != "all to agree: one is called failed." {
		t.Error(got)
	}
	if got := atLength(in, "all to agree", ""); got != "all to agree." {
		t.Error(got)
	}
}
