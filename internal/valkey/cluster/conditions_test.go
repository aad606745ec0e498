package cluster

import (
	"slices"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// concluded is what a pass makes of a cluster in a phase.
func concluded(t *testing.T, phase fsm.Phase, change func(*valkeyv1.ValkeyCluster, *World)) *valkeyv1.ValkeyCluster {
	t.Helper()
	c, w := newCluster(), clone(made()[len(made())-1].world)
	c.Status.Phase, c.Status.ObservedGeneration = phase, 1
	change(c, &w)
	in := input{Obj: c, World: w, Now: present}
	step, err := Machine.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	return Machine.Reduce(in, step, nil).Obj
}

// Ready is that the spec is reached; Available is that every slot is served.
func TestReadyIsThatTheSpecIsReached(t *testing.T) {
	grown := func(c *valkeyv1.ValkeyCluster, w *World) {
		c.Spec.Masters = 4
		wish(c, w)
	}
	for name, tc := range map[string]struct {
		change    func(*valkeyv1.ValkeyCluster, *World)
		reason    fsm.Reason // of Ready, which is False; "" is True
		available bool
	}{
		"all is well": {func(*valkeyv1.ValkeyCluster, *World) {}, "", true},
		"another size waits for who has reserved it": {func(c *valkeyv1.ValkeyCluster, w *World) {
			grown(c, w)
			w.Reservation = reserve.Fact{State: reserve.Others, Holder: "RemediationRequest shop/fix"}
		}, ReasonReservedByOther, true},
		"another size, and paused": {func(c *valkeyv1.ValkeyCluster, w *World) { grown(c, w); c.Spec.Paused = true }, ReasonPaused, true},
		"paused":                   {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Paused = true }, "", true},
		"an edit, and paused": {func(c *valkeyv1.ValkeyCluster, w *World) {
			c.Spec.Paused = true
			w.Children[0].Current = false
		}, ReasonPaused, true},
		"an edit":                   {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Children[0].Current = false }, ReasonApplying, true},
		"settings are on their way": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Settings = Settings{Print: "p", Work: Moving} }, ReasonApplyingConfig, true},
		"a setting is refused":      {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Settings = Settings{Print: "p", Refused: "no"} }, ReasonConfigRefused, true},
		"slots have no owner": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			for _, n := range w.Nodes {
				n.Server.View[4].Slots = "10923-16382"
			}
		}, ReasonNodesMissing, false},
		"a primary does not serve":                     {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[4].Server.OK = false }, ReasonNodesMissing, false},
		"a server is busy for a moment":                {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[4].Server = nil }, "", true},
		"a volume is full":                             {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[5].Server.CannotWrite = true }, ReasonCannotWrite, true},
		"a replica's pod is not ready":                 {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Nodes[5].Ready = false }, ReasonNodesMissing, true},
		"a shard came back empty, and is being healed": {shardIsLost, ReasonHealing, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := concluded(t, Running, tc.change)
			ready := apimeta.FindStatusCondition(c.Status.Conditions, fsm.Ready)
			if (ready.Status == metav1.ConditionTrue) != (tc.reason == "") || tc.reason != "" && ready.Reason != string(tc.reason) {
				t.Errorf("%s: %s: %s", ready.Status, ready.Reason, ready.Message)
			}
			if tc.reason != "" && c.Status.WaitingFor == "" {
				t.Error("waits for nothing")
			}
			if is := apimeta.IsStatusConditionTrue(c.Status.Conditions, valkeyv1.Available); is != tc.available {
				t.Errorf("available is %t", is)
			}
			for _, condition := range c.Status.Conditions {
				if condition.Message == "" {
					t.Errorf("%s says nothing", condition.Type)
				}
			}
		})
	}
}

// A loss that waits for a person is Stalled: kstatus, Helm, Flux and Argo CD would wait for ever.
func TestALossIsStalled(t *testing.T) {
	for on, stalled := range map[valkeyv1.OnTotalLoss]bool{valkeyv1.FailOnTotalLoss: true, valkeyv1.RecreateOnTotalLoss: false} {
		c := concluded(t, Degraded, func(c *valkeyv1.ValkeyCluster, w *World) {
			without("id of web-1-0", "id of web-1-1")(c, w)
			c.Spec.OnTotalLoss = on
			w.Children = slices.DeleteFunc(w.Children, func(c Child) bool { return c.Kind == KindDisruptionBudget })
		})
		ready := apimeta.FindStatusCondition(c.Status.Conditions, fsm.Ready)
		if is := apimeta.IsStatusConditionTrue(c.Status.Conditions, fsm.Stalled); is != stalled || ready.Status != metav1.ConditionFalse {
			t.Errorf("%s: stalled is %t; %s: %s", on, is, ready.Reason, ready.Message)
		}
		if stalled && ready.Reason != string(ReasonDataLost) {
			t.Errorf("%s: %s: %s", on, ready.Reason, ready.Message)
		}
	}
}
