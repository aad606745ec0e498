package kube

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

var errDark = errors.New("dial 10.0.0.1: refused")

// blindPass runs a pass that cannot see.
func (b *bench) blindPass(t *testing.T) []string {
	t.Helper()
	b.blindBy = errDark
	defer func() { b.blindBy = nil }()
	if _, err := b.Pass(t.Context(), lampKey); !errors.Is(err, errDark) {
		t.Fatal(err)
	}
	return b.since()
}

func (b *bench) ready() (metav1.ConditionStatus, string) {
	c := apimeta.FindStatusCondition(b.server.lamps[lampKey].Status.Conditions, fsm.Ready)
	if c == nil {
		return "", ""
	}
	return c.Status, c.Reason
}

func TestTheThirdFailedLookInARowIsTold(t *testing.T) {
	b := newBench(lampMachine())
	b.world[off] = fsm.Fire(press, "Pressed")
	b.pass(t)
	quiet := []string{"get", "observe"}
	for range 2 {
		if diff := cmp.Diff(quiet, b.blindPass(t)); diff != "" {
			t.Fatalf("too early (-want +got):\n%s", diff)
		}
	}
	before := metricOf(t, metricUnknown.WithLabelValues("Lamp"))
	want := []string{"get", "observe", "save", "event Warning CannotObserve Observe: The manager cannot read what it needs, so it changes nothing; its log has the error."}
	if diff := cmp.Diff(want, b.blindPass(t)); diff != "" {
		t.Fatalf("third (-want +got):\n%s", diff)
	}
	for range 2 {
		if diff := cmp.Diff(quiet, b.blindPass(t)); diff != "" {
			t.Fatalf("told again (-want +got):\n%s", diff)
		}
	}
	if status, reason := b.ready(); status != metav1.ConditionUnknown || reason != "CannotObserve" {
		t.Errorf("Ready is %s, %s", status, reason)
	}
	if n := metricOf(t, metricUnknown.WithLabelValues("Lamp")) - before; n != 1 {
		t.Errorf("counted %v", n)
	}
	b.pass(t)
	if n := metricOf(t, metricUnknown.WithLabelValues("Lamp")) - before; n != 0 {
		t.Errorf("sees again, and is counted %v times as one who does not", n)
	}
	if status, reason := b.ready(); status != metav1.ConditionTrue || reason != "Bright" {
		t.Errorf("sees again, and yet Ready is %s, %s", status, reason)
	}
	if diff := cmp.Diff(quiet, b.blindPass(t)); diff != "" {
		t.Errorf("failures before the recovery were counted (-want +got):\n%s", diff)
	}
}

// What a kind says about this moment has no more evidence than Ready; what it never said stays unsaid, and what is no
// matter of this moment stays as it was.
func TestEvidentConditionsAreUnknownWithReady(t *testing.T) {
	m := lampMachine()
	m.Evident = []string{"Shines", "Hums"}
	m.Conditions = func(input, fsm.Decision) []metav1.Condition {
		return []metav1.Condition{{Type: "Shines", Status: metav1.ConditionTrue}, {Type: "Painted", Status: metav1.ConditionTrue}}
	}
	b := newBench(m)
	b.world[off] = fsm.Fire(press, "Pressed")
	b.pass(t)
	for range blindAfter {
		b.blindPass(t)
	}
	is := b.server.lamps[lampKey].Status.Conditions
	for kind, want := range map[string]metav1.ConditionStatus{"Shines": metav1.ConditionUnknown, "Painted": metav1.ConditionTrue} {
		if c := apimeta.FindStatusCondition(is, kind); c == nil || c.Status != want {
			t.Errorf("%s is %+v, want %s", kind, c, want)
		}
	}
	if c := apimeta.FindStatusCondition(is, "Hums"); c != nil {
		t.Errorf("what was never said is %+v", c)
	}
}

func TestAnObjectThatIsGoneIsNotCounted(t *testing.T) {
	b := newBench(lampMachine())
	for range 2 {
		b.blindPass(t)
	}
	was := b.server.lamps[lampKey]
	delete(b.server.lamps, lampKey)
	b.pass(t)
	b.server.put(was)
	b.blindPass(t)
	if n := b.blind.count[lampKey]; n != 1 {
		t.Errorf("counts %d failed looks at a new object", n)
	}
}

func TestABlindOneShotSaysNothingUntilItEnds(t *testing.T) {
	m := lampMachine()
	m.OneShot = true
	b := newBench(m)
	for range blindAfter + 1 {
		for _, did := range b.blindPass(t) {
			if did == "save" {
				t.Fatal("saved")
			}
		}
	}
}

// TestABlindOneShotEndsInTime: what cannot be seen for so long that its time is over is given up, by nothing but the clock.
func TestABlindOneShotEndsInTime(t *testing.T) {
	m := lampMachine()
	m.OneShot = true
	rule := m.Phases[off]
	rule.Late, rule.Within = press, time.Hour
	rule.Decide = func(in input) fsm.Decision {
		if d, seen := in.World[off]; seen {
			return d
		}
		return fsm.Wait("Dark", "self")
	}
	m.Phases[off], m.Phases[on] = rule, fsm.Rule[input]{Doc: "Given up.", Class: fsm.Failed}
	b := newBench(m)
	b.pass(t)
	late := b.server.lamps[lampKey].DeepCopy()
	late.Status.Deadline = &metav1.Time{Time: b.Now().Add(-time.Second)}
	b.server.put(late)
	b.world[off] = fsm.Do("Polish", effect("polish")) // what would be done by one who sees
	for range blindAfter - 1 {
		b.blindPass(t)
	}
	for _, did := range b.blindPass(t) {
		if did == "act polish" {
			t.Error("acts blind")
		}
	}
	if phase := b.server.lamps[lampKey].Status.Phase; phase == late.Status.Phase {
		t.Errorf("is still %s", phase)
	}
}

func TestDeletionIsSeenBlind(t *testing.T) {
	b := newBench(lampMachine())
	b.pass(t)
	going := b.server.lamps[lampKey].DeepCopy()
	going.DeletionTimestamp = &metav1.Time{Time: b.Now()}
	b.server.put(going)
	// What a failed look has seen so far must not be acted on: half a world looks
	// like one in which the other half is gone.
	b.world[off] = fsm.Do("Polish", effect("polish"))
	b.world["Going"] = fsm.Do("Polish", effect("polish"))
	b.blindBy = errDark
	moved := []string{"get", "observe", "save", "event Normal Deleted Deleted: Deleting (Off → Going)", "then found=true"}
	for _, want := range [][]string{moved, {"get", "observe", "then found=true"}} {
		if diff := cmp.Diff(want, b.pass(t)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestABlindPassSaysWhichReadFailed(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for want, err := range map[string]error{
		"The manager cannot read pod shop/web-0-0, so it changes nothing; its log has the error.":                    fmt.Errorf("read pod shop/web-0-0: %w", errDark),
		"The manager cannot list pods, so it changes nothing; give its account the roles that it is installed with.": fmt.Errorf("list pods: %w", apierrors.NewForbidden(pods, "", errDark)),
		"The manager cannot read what it needs, so it changes nothing; its log has the error.":                       fmt.Errorf("ask 10.0.0.1:6379: %w", errDark),
	} {
		if got := whyBlind(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
