package kube

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

func TestMetricsCountObjectsByPhase(t *testing.T) {
	m := lampMachine()
	m.Kind = t.Name()
	b := newBench(m)
	phases := func() [2]float64 {
		return [2]float64{
			metricOf(t, metricPhase.WithLabelValues(t.Name(), "Off", "Working")), metricOf(t, metricPhase.WithLabelValues(t.Name(), "On", "Steady")),
		}
	}
	for _, step := range []struct {
		what string
		do   func()
		want [2]float64
	}{
		{"seen first", func() {}, [2]float64{1, 0}},
		{"at rest", func() {}, [2]float64{1, 0}},
		{"moved, not saved", func() {
			b.world[off] = fsm.Fire(press, "Pressed")
			b.server.refuses = errDark
		}, [2]float64{1, 0}},
		{"moved", func() { b.server.refuses = nil }, [2]float64{0, 1}},
		{"gone", func() { delete(b.server.lamps, lampKey) }, [2]float64{0, 0}},
	} {
		step.do()
		_, err := b.Pass(t.Context(), lampKey)
		if got := phases(); got != step.want {
			t.Errorf("%s: Off, On = %v, want %v (%v)", step.what, got, step.want, err)
		}
	}
}

func TestMetricsOfMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := lampMachine()
		m.Kind = t.Name()
		b := newBench(m)
		b.pass(t) // Off
		elapse(3 * time.Second)
		b.world[off] = fsm.Fire(press, "Pressed")
		b.pass(t) // On
		counted := func(from, to, event string) float64 {
			return metricOf(t, metricTransitions.WithLabelValues(t.Name(), from, to, event))
		}
		if a, b := counted("", "Off", "Created"), counted("Off", "On", "Press"); a != 1 || b != 1 {
			t.Errorf("created %v, pressed %v", a, b)
		}
		for sample, want := range map[string]string{
			`statecraft_phase_seconds_count{kind="` + t.Name() + `",phase="Off"}`: "1",
			`statecraft_phase_seconds_sum{kind="` + t.Name() + `",phase="Off"}`:   "3",
			`statecraft_pass_seconds_count{kind="` + t.Name() + `"}`:              "2",
		} {
			if got := served(t, sample); got != want {
				t.Errorf("%s is %s, want %s", sample, got, want)
			}
		}
	})
}

// A phase that an object only passes through took no time, above all the first.
func TestMetricsOfAChainOfMoves(t *testing.T) {
	m := lampMachine()
	m.Kind = t.Name()
	b := newBench(m)
	b.world[off] = fsm.Fire(press, "Pressed")
	b.pass(t)
	for sample, want := range map[string]string{
		`statecraft_phase_seconds_count{kind="` + t.Name() + `",phase="Off"}`: "1",
		`statecraft_phase_seconds_sum{kind="` + t.Name() + `",phase="Off"}`:   "0",
		`statecraft_phase_seconds_count{kind="` + t.Name() + `",phase=""}`:    "none",
	} {
		if got := served(t, sample); got != want {
			t.Errorf("%s is %s, want %s", sample, got, want)
		}
	}
}

func TestTheFirstFailureInARowIsAnEvent(t *testing.T) {
	for whose, decide := range map[string]fsm.Phase{"the object": on, "a lane": lit} {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := withBulb(lampMachine())
				m.Kind = t.Name()
				b := newBench(m)
				b.world = world{off: fsm.Fire(press, "Pressed"), on: fsm.Wait("Bright"), lit: fsm.Wait("Glowing")}
				for range 2 { // the lane begins in the second
					b.pass(t)
				}
				b.world[decide] = fsm.Do("Polish", effect("polish"))
				for class, want := range map[fsm.ErrorClass]string{
					fsm.Transient: "Retrying 1000", fsm.Refused: "Refused 1000", fsm.Contested: "FieldContested 1000",
					fsm.Changed: "Retrying 0001", // a lost race is normal, unless it is lost again and again
				} {
					b.fails["polish"] = &fsm.Error{Class: class, Err: errors.New("slipped")}
					told := ""
					for range 4 {
						count := 0
						for _, did := range b.pass(t) {
							if rest, is := strings.CutPrefix(did, "event Warning "); is {
								count++
								told, _, _ = strings.Cut(rest, " ")
							}
						}
						t.Log(class, count)
						want = strings.Replace(want, " "+fmt.Sprint(count), " ", 1)
						elapse(6 * time.Minute) // beyond every back-off
					}
					if want = strings.TrimSpace(want); told != want {
						t.Errorf("%s is told as %q, want %q at its time", class, told, want)
					}
					if n := metricOf(t, metricEffectErrors.WithLabelValues(t.Name(), string(class))); n != 4 {
						t.Errorf("%v failures are counted", n)
					}
					delete(b.fails, "polish") // the next row begins with a success
					b.pass(t)
				}
			})
		})
	}
}

func TestACircleIsCounted(t *testing.T) {
	m := lampMachine()
	m.Kind = t.Name()
	b := newBench(m)
	b.world = world{off: fsm.Fire(press, "Pressed"), on: fsm.Fire(press, "Pressed")}
	b.pass(t)
	if n := metricOf(t, metricReentries.WithLabelValues(t.Name())); n != 1 {
		t.Errorf("counted %v", n)
	}
}

// The API server refuses an event with a longer note, and with it the news.
func TestNotesAreCut(t *testing.T) {
	var said string
	trace := NewTrace(lampMachine(), recorder(func(s string) { said = s }))
	trace.event(nil, "Normal", "Pressed", "Press", strings.Repeat("ä", 1000))
	note := strings.TrimPrefix(said, "event Normal Pressed Press: ")
	if len(note) > 1024 || !strings.HasPrefix(note, "ääää") || !strings.HasSuffix(note, "ä…") {
		t.Errorf("%d bytes: %q", len(note), note)
	}
}

// smash cannot be undone.
type smash struct{ what, seen string }

func (s smash) String() string   { return "smash " + s.what }
func (s smash) Evidence() string { return s.seen }

// What cannot be undone is told with what was seen, each by itself; what failed, or needed no proof, is not.
func TestProofsAreTold(t *testing.T) {
	var told []string
	trace := NewTrace(lampMachine(), recorder(func(s string) { told = append(told, s) }))
	traceProofs(trace, nil, []fsm.Outcome{
		{Effect: smash{"bulb", "it is dark"}}, {Effect: smash{"socket", "nobody holds it"}}, {Effect: smash{"shade", ""}},
		{Effect: smash{"cable", "it hangs"}, Err: errors.New("live")},
	})
	want := []string{
		`event Normal Proven smash bulb: Step "smash bulb" was done after its proof: it is dark.`,
		`event Normal Proven smash socket: Step "smash socket" was done after its proof: nobody holds it.`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	told = nil
	traceProofs(trace, nil, []fsm.Outcome{{Effect: smash{strings.Repeat("x", 300), "it is dark"}}})
	if action, _, _ := strings.Cut(strings.TrimPrefix(told[0], "event Normal Proven "), ":"); len(action) != longestAction {
		t.Errorf("an action of %d bytes", len(action))
	}
}

func TestMovesInWords(t *testing.T) {
	b := newBench(withBulb(lampMachine()))
	b.world = world{off: fsm.Wait("Dark").Because("who turns it on?"), lit: fsm.Wait("Glowing")}
	events := func() (told []string) {
		for _, did := range b.pass(t) {
			if note, is := strings.CutPrefix(did, "event "); is {
				told = append(told, note)
			}
		}
		return told
	}
	if diff := cmp.Diff([]string{"Normal Created Created: who turns it on? (Off)"}, events()); diff != "" {
		t.Error(diff)
	}
	b.world[off], b.world[on] = fsm.Fire(press, "Pressed"), fsm.Wait("Bright")
	if diff := cmp.Diff([]string{"Normal Pressed Press: On. (Off → On)"}, events()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Normal Created Created: Lit. (lane bulb: Lit)"}, events()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string(nil), events()); diff != "" {
		t.Errorf("told without a change: %s", diff)
	}
}

// What Ready says of the reason of a move explains the move better than its phase does.
func TestReadyExplainsAMove(t *testing.T) {
	trace := NewTrace(lampMachine(), nil)
	way := []fsm.Hop{{Transition: meta.Transition{To: on, Reason: "Pressed"}}}
	for reason, want := range map[string]string{"Pressed": "The lamp is on. (On)", "Burnt": "On. (On)"} {
		p := &meta.Progress{Conditions: []metav1.Condition{{Type: fsm.Ready, Reason: reason, Message: "The lamp is on."}}}
		if got := trace.inWords(way, p); got != want {
			t.Errorf("Ready is %s: %q, want %q", reason, got, want)
		}
	}
}

// A failure that led to a move was told with the move; any other is told by itself.
func TestAFailureIsToldOnce(t *testing.T) {
	failed := fsm.Outcome{Effect: effect("one"), Err: &fsm.Error{Class: fsm.Refused, Err: errors.New("no"), Say: "The quota does not allow it."}}
	for _, c := range []struct {
		move string
		want int
	}{{failed.Message(), 0}, {"It was time.", 1}} {
		told := 0
		trace := NewTrace(&fsm.Machine[*kubetest.Lamp, world]{Kind: "Lamp"}, recorder(func(string) { told++ }))
		hops := []fsm.Hop{{Transition: meta.Transition{To: "Broken", Message: c.move}}}
		traceFailures(trace, &kubetest.Lamp{}, &meta.Place{}, hops, []fsm.Outcome{failed})
		if told != c.want {
			t.Errorf("after a move because of %q: %d events, want %d", c.move, told, c.want)
		}
	}
}
