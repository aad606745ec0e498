package cluster

import (
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// A change of size that waits for an upgrade says so, and for whom.
func TestAChangeOfSizeSaysThatItWaits(t *testing.T) {
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.Since, c.Status.ObservedGeneration = Running, *ago(time.Minute), 1
	c.Spec.Masters = 4
	w.Upgrade, w.Reservation = &Upgrade{Name: "web-to-9"}, Reservation{State: Others, Holder: "ValkeyUpgrade shop/web-to-9"}
	in := input{Obj: c, World: w, Now: present}
	ready := apimeta.FindStatusCondition(conditions(in, decideRunning(in)), fsm.Ready)
	if ready == nil || ready.Reason != string(ReasonReservedByOther) || !strings.Contains(ready.Message, "web-to-9") {
		t.Errorf("Ready is %+v", ready)
	}
}
