package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/sim"
)

var (
	orderKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secretKind = corev1.SchemeGroupVersion.WithKind("Secret")
)

// toySubject tells of an order that is made, and closed when its need is gone.
func toySubject(m mistake) *sim.Subject {
	return &sim.Subject{
		Name: "toy", Area: "none", User: "toy", Groups: []string{"system:masters"},
		Kinds: []schema.GroupVersionKind{orderKind, secretKind},
		Open:  func(w *sim.World) *sim.Play { return (&toyStory{world: w, mistake: m}).open() },
	}
}

type toyStory struct {
	world   *sim.World
	mistake mistake
	noted   bool // somebody has
}

func (s *toyStory) open() *sim.Play {
	order := read.Key{Namespace: s.world.Namespace, Name: "order"}
	return &sim.Play{
		Main:  sim.Ref{GroupVersionKind: orderKind, Key: order},
		Phase: func(obj *unstructured.Unstructured) string { return phaseOf(obj) },
		Wipe: func(ctx context.Context) error {
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":null}`))
			return client.IgnoreNotFound(s.world.Client.Patch(ctx, s.configMap("order"), patch))
		},
		Build: func(c *sim.Cell) {
			needed := true
			r := &toy{env: c.Env(), mistake: s.mistake, order: order, needed: func() bool { return needed }}
			c.Add(sim.Controller{
				Reconciler: r,
				Echo:       func(client.Object) bool { return s.mistake == awaitsEcho && r.busy },
				Kind:       orderKind, Owns: []schema.GroupVersionKind{secretKind},
				Woken: func(change sim.Change) []read.Key {
					if change.Kind != "ConfigMap" || change.Name != "need" {
						return nil
					}
					needed = change.Is != nil
					return []read.Key{order}
				},
			})
		},
		Steps: []sim.Step{
			{Name: "order", Do: s.place, Until: s.reaches(ready)},
			{Name: "need it no longer", Do: s.cancel, Until: s.reaches(closed)},
		},
		Always: s.always,
		Meddle: s.meddle,
		End:    func([]*unstructured.Unstructured) error { return errors.Join(s.reaches(closed)(), s.kept()) },
		Equal: func(obj *unstructured.Unstructured) {
			unstructured.RemoveNestedField(obj.Object, "data", "since")
			unstructured.RemoveNestedField(obj.Object, "metadata", "annotations")
		},
	}
}

func phaseOf(obj *unstructured.Unstructured) string {
	phase, _, _ := unstructured.NestedString(obj.Object, "data", "phase")
	return phase
}

func (s *toyStory) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: name}}
}

func (s *toyStory) place(ctx context.Context) error {
	return errors.Join(s.world.Client.Create(ctx, s.configMap("need")), s.world.Client.Create(ctx, s.configMap("order")))
}

func (s *toyStory) cancel(ctx context.Context) error {
	return s.world.Client.Delete(ctx, s.configMap("need"))
}

func (s *toyStory) reaches(phase string) func() error {
	return func() error {
		order := s.configMap("order")
		if !s.world.Find(order) || order.Data["phase"] != phase {
			return fmt.Errorf("the order is %q, not %s", order.Data["phase"], phase)
		}
		return nil
	}
}

// meddle writes a note on the order.
func (s *toyStory) meddle(ctx context.Context) error {
	if !s.world.Find(s.configMap("order")) {
		return nil
	}
	s.noted = true
	return s.world.Client.Patch(ctx, s.configMap("order"), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"note":"hurry"}}}`)))
}

// kept says that what somebody has noted is still there.
func (s *toyStory) kept() error {
	if order := s.configMap("order"); s.noted && s.world.Find(order) && order.Annotations["note"] == "" {
		return errors.New("a note was dropped")
	}
	return nil
}

// always: the key of a finished order is that of its child.
func (s *toyStory) always(change sim.Change) error {
	if change.Key.Name != "order" || change.Is == nil || phaseOf(change.Is) != ready {
		return nil
	}
	child := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "child"}}
	key, _, _ := unstructured.NestedString(change.Is.Object, "data", "key")
	if s.world.Find(child) && string(child.Data["key"]) != key {
		return errors.New("the order and its child have different keys")
	}
	return nil
}

func TestTheSoundToyIsNotAccused(t *testing.T) {
	report := tryToy(t, sound)
	if report.Tried != report.Total || report.Total < 200 || report.Faults != len(sim.Faults) {
		t.Errorf("tried %d of %d plans with %d of %d faults", report.Tried, report.Total, report.Faults, len(sim.Faults))
	}
	for _, d := range report.Divergences {
		t.Errorf("%s: %s", d.Plan, d.Why)
	}
}

// A plan that strikes the last call of a boundary finds it, wherever it is this time.
func TestAStoryMayAskMoreOrLessOften(t *testing.T) {
	report := tryToy(t, fickle, sim.Crash)
	for _, d := range report.Divergences {
		t.Errorf("%s: %s", d.Plan, d.Why)
	}
}

// mistakes are planted one at a time; each of the faults alone finds it.
var mistakes = map[string]struct {
	mistake mistake
	finds   []sim.Fault
	says    string
}{
	"a child without a name of its own is made twice":           {nameless, []sim.Fault{sim.Crash, sim.TimedOut}, "create Secret is 2, not 1"},
	"an effect before what it used is saved cannot be repeated": {notDurable, []sim.Fault{sim.Crash, sim.TimedOut}, "different keys"},
	"a cache does not know what was made a moment ago":          {looksInCache, []sim.Fault{sim.Stale, sim.Rewound, sim.TwoLeaders}, "create Secret is"},
	"absence in a cache is no reason to delete":                 {believesCache, []sim.Fault{sim.RewoundOthers}, "order is"},
	"an error is not absence":                                   {believesError, []sim.Fault{sim.Unavailable}, "order is"},
	"a child that is there is not made again":                   {replaces, []sim.Fault{sim.TimedOut}, "create Secret is 2, not 1"},
	"a save without a version overwrites another leader's":      {overwrites, []sim.Fault{sim.Takeover}, "different keys"},
	"a save without a version drops what others write":          {overwrites, []sim.Fault{sim.Meddled}, "a note was dropped"},
	"a conflict is no failure":                                  {givesUp, []sim.Fault{sim.Conflict}, "Failed"},
	"what an event said is lost with the event and the process": {remembers, []sim.Fault{sim.LostEvent, sim.Crash}, "Ready"},
	"the event of a save may come before its answer":            {awaitsEcho, []sim.Fault{sim.EarlyEvent}, "Failed"},
	"that an object is looked at says nothing":                  {nervous, []sim.Fault{sim.RepeatedEvent}, "Failed"},
	"a success that comes late is a success":                    {impatient, []sim.Fault{sim.ClockJump}, "Failed"},
	"a lost status is found again from what exists":             {amnesiac, []sim.Fault{sim.Wiped}, "keys"},
}

func TestMistakesAreFound(t *testing.T) {
	for name, c := range mistakes {
		t.Run(name, func(t *testing.T) {
			report := tryToy(t, c.mistake, c.finds...)
			for _, fault := range c.finds {
				found := slices.ContainsFunc(report.Divergences, func(d sim.Divergence) bool {
					return d.Plan.Fault == fault && strings.Contains(d.Why, c.says)
				})
				if !found {
					var out bytes.Buffer
					report.Print(&out)
					t.Errorf("%s did not find it:\n%s", fault, out.String())
				}
			}
		})
	}
}

func TestEveryFaultFindsAMistake(t *testing.T) {
	for _, fault := range sim.Faults {
		finds := false
		for _, c := range mistakes {
			finds = finds || slices.Contains(c.finds, fault)
		}
		if !finds {
			t.Errorf("%s finds nothing: plant what it is there for", fault)
		}
	}
}

func TestWritesAtRestAreFound(t *testing.T) {
	_, err := sim.NewLab(t, controlPlane(t), toySubject(restless)).Run(t.Context(), sim.Options{})
	if err == nil || !strings.Contains(err.Error(), "wrote at rest") {
		t.Errorf("a controller that writes at the end: %v", err)
	}
}

func TestADivergenceIsReplayed(t *testing.T) {
	lab := sim.NewLab(t, controlPlane(t), toySubject(tired))
	const once = "1.Making.create-Secret.1:unavailable"
	for plan, diverges := range map[string]bool{once: false, once + "+2:unavailable": true, once + "+9:unavailable": false} {
		report, err := lab.Run(t.Context(), sim.Options{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		if report.Tried != 1 || (len(report.Divergences) == 1) != diverges {
			t.Errorf("%s: tried %d plans, diverged: %v", plan, report.Tried, report.Divergences)
		}
		if diverges && !strings.HasSuffix(report.Replay(report.Divergences[0].Plan), " DEPTH=2 PLAN=toy:"+plan) {
			t.Errorf("%s is replayed by %s", plan, report.Replay(report.Divergences[0].Plan))
		}
	}
	if _, err := lab.Run(t.Context(), sim.Options{Plan: "1.Making.create-Pod.1:crash"}); err == nil {
		t.Error("a plan that is none was tried")
	}
}

func TestPairsOfFaultsStrikeTwice(t *testing.T) {
	lab := sim.NewLab(t, controlPlane(t), toySubject(sound))
	report, err := lab.Run(t.Context(), sim.Options{Seed: 1, Pairs: true, Budget: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d plans, %d struck twice, %v diverged", report.Tried, report.Twice, report.Divergences)
	if report.Twice == 0 || report.Twice > report.Tried {
		t.Errorf("of %d plans %d struck twice", report.Tried, report.Twice)
	}
}

func tryToy(t *testing.T, m mistake, faults ...sim.Fault) *sim.Report {
	t.Helper()
	report, err := sim.NewLab(t, controlPlane(t), toySubject(m)).Run(t.Context(), sim.Options{Seed: 1, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d plans, %d diverged, %s", report.Tried, len(report.Divergences), report.Took)
	return report
}
