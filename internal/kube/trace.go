package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Trace tells the world what a pass did, after it was saved: events, metrics and
// spans. What was not saved did not happen, and is not told.
type Trace struct {
	kind     string
	class    func(fsm.Hop) fsm.Class
	doc      func(fsm.Hop) string
	recorder events.EventRecorder // nil: no events

	mu    sync.Mutex
	known map[read.Key]known // of every object that exists
}

// known is which object has a name, and under what it is counted.
type known struct {
	uid types.UID
	counted
	isCounted bool
}

// counted is under what an object is counted.
type counted struct {
	phase       meta.Phase
	unknown     bool // Ready is
	unavailable bool // the kind has a condition Available, and it is False
}

// available is the condition of kinds that others depend on.
const available = "Available"

func countedAs(p *meta.Progress) counted {
	return counted{
		phase:       p.Phase,
		unknown:     apimeta.IsStatusConditionPresentAndEqual(p.Conditions, fsm.Ready, metav1.ConditionUnknown),
		unavailable: apimeta.IsStatusConditionFalse(p.Conditions, available),
	}
}

// NewTrace makes the trace of one kind.
func NewTrace[T Object[T], W any](m *fsm.Machine[T, W], recorder events.EventRecorder) *Trace {
	return &Trace{kind: m.Kind, class: m.ClassOf, doc: docOf(m), recorder: recorder, known: map[read.Key]known{}}
}

// docOf tells what the phase is for that a move, of the object or of a lane, leads to.
func docOf[T Object[T], W any](m *fsm.Machine[T, W]) func(fsm.Hop) string {
	return func(h fsm.Hop) string {
		if h.Lane != "" {
			return m.Lanes.Phases[h.To].Doc
		}
		return m.Phases[h.To].Doc
	}
}

// at counts the object as it is, and no longer as it was.
func (t *Trace) at(key read.Key, p *meta.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	is := countedAs(p)
	was := t.known[key]
	if was.isCounted && was.counted == is {
		return
	}
	if was.isCounted {
		t.count(was.counted, -1)
	}
	t.known[key] = known{was.uid, is, true}
	t.count(is, 1)
}

// meet notes which object has a name, and says that another had it before.
func (t *Trace) meet(key read.Key, uid types.UID) (replaced bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, met := t.known[key]
	if !met {
		t.known[key] = known{uid: uid}
	}
	return met && was.uid != uid
}

func (t *Trace) gone(key read.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if was := t.known[key]; was.isCounted {
		t.count(was.counted, -1)
	}
	delete(t.known, key)
}

func (t *Trace) count(c counted, n float64) {
	metricPhase.WithLabelValues(t.kind, string(c.phase), string(t.classOf(c.phase))).Add(n)
	if c.unknown {
		metricUnknown.WithLabelValues(t.kind).Add(n)
	}
	if c.unavailable {
		metricUnavailable.WithLabelValues(t.kind).Add(n)
	}
}

func (t *Trace) classOf(phase meta.Phase) fsm.Class {
	return t.class(fsm.Hop{Transition: meta.Transition{To: phase}})
}

// What the API server takes, in bytes; it refuses an event with more.
const (
	longestAction = 128
	longestNote   = 1024
)

func (t *Trace) event(obj runtime.Object, kind, reason, action, note string) {
	if t.recorder == nil {
		return
	}
	if len(note) > longestNote {
		const more = "…"
		note = strings.ToValidUTF8(note[:longestNote-len(more)], "") + more
	}
	t.recorder.Eventf(obj, nil, kind, reason, action, "%s", note)
}

func (t *Trace) refused(obj runtime.Object, err error) {
	metricRefused.WithLabelValues(t.kind).Inc()
	t.event(obj, corev1.EventTypeWarning, string(ReasonMoveRefused), "Step",
		"The manager refuses to act: "+err.Error()+". Was this object last written by a newer version of the manager?")
}

func (t *Trace) blind(key read.Key, obj runtime.Object, p *meta.Progress, message string) {
	t.at(key, p)
	t.event(obj, corev1.EventTypeWarning, string(ReasonCannotObserve), "Observe", message)
}

// traceMoves tells the moves of a pass that was saved. One that ends in failure, or with less than there
// should be, is a Warning.
func traceMoves[T Object[T], W any](t *Trace, in fsm.Input[T, W], s fsm.Step[T], n fsm.Next[T]) {
	p := n.Obj.GetProgress()
	if s.Circled {
		metricReentries.WithLabelValues(t.kind).Inc()
	}
	since := in.Obj.GetProgress().Since.Time
	for _, h := range n.Hops {
		metricTransitions.WithLabelValues(t.kind, string(h.From), string(h.To), string(h.Event)).Inc()
		if h.Lane != "" {
			continue
		}
		if h.From != "" {
			metricPhaseSeconds.WithLabelValues(t.kind, string(h.From)).Observe(in.Now.Sub(since).Seconds())
		}
		since = in.Now // a phase that was only passed through
	}
	for _, way := range ways(n.Hops) {
		last := way[len(way)-1]
		kind := corev1.EventTypeNormal
		if t.class(last).Warns() {
			kind = corev1.EventTypeWarning
		}
		t.event(n.Obj, kind, string(last.Reason), string(last.Event), t.inWords(way, p))
	}
	traceStall(t, in.Obj.GetProgress(), n)
}

// traceStall tells that an object needs a person, if no move told it: it may come to that while it waits.
func traceStall[T Object[T]](t *Trace, was *meta.Progress, n fsm.Next[T]) {
	p := n.Obj.GetProgress()
	c := apimeta.FindStatusCondition(p.Conditions, fsm.Stalled)
	told := slices.ContainsFunc(n.Hops, func(h fsm.Hop) bool { return h.Lane == "" && t.class(h) == fsm.Failed })
	if c != nil && !told && !apimeta.IsStatusConditionTrue(was.Conditions, fsm.Stalled) {
		t.event(n.Obj, corev1.EventTypeWarning, c.Reason, string(p.Phase), c.Message)
	}
}

// ways groups moves by who moved. An object or a lane that came through several
// phases in one pass is one piece of news, and one write: with one for each hop,
// events would be most of what a crowd of new objects costs.
func ways(hops []fsm.Hop) (ways [][]fsm.Hop) {
	at := map[string]int{}
	for _, h := range hops {
		i, known := at[h.Lane]
		if !known {
			i = len(ways)
			at[h.Lane] = i
			ways = append(ways, nil)
		}
		ways[i] = append(ways[i], h)
	}
	return ways
}

// inWords is why an object or a lane moved, as a sentence, and the way that it took. A move without words of its
// own is explained by what is awaited now, by what Ready says of its reason, or else by what its last phase is for.
func (t *Trace) inWords(way []fsm.Hop, p *meta.Progress) string {
	var through []string
	if first := way[0]; first.From != "" {
		through = append(through, string(first.From))
	}
	for _, h := range way {
		through = append(through, string(h.To))
	}
	path, last := strings.Join(through, " → "), way[len(way)-1]
	why := last.Message
	if last.Lane != "" {
		path = "lane " + last.Lane + ": " + path
	} else {
		why = cmp.Or(why, p.WaitingFor, readyMessage(p, last.Reason))
	}
	return strings.TrimSpace(cmp.Or(why, t.doc(last)) + " (" + path + ")")
}

// readyMessage is what condition Ready says, if it says it of this reason.
func readyMessage(p *meta.Progress, reason meta.Reason) string {
	if c := apimeta.FindStatusCondition(p.Conditions, fsm.Ready); c != nil && c.Reason == string(reason) {
		return c.Message
	}
	return ""
}

// traceProofs tells what was done that cannot be undone, and what was seen that allowed it.
func traceProofs(t *Trace, obj runtime.Object, outcomes []fsm.Outcome) {
	for _, o := range outcomes {
		if proven, is := o.Effect.(fsm.Proven); is && o.Err == nil && proven.Evidence() != "" {
			// Events that differ in their notes only are one event, so what was done is the action.
			what := o.Effect.String()
			t.event(obj, corev1.EventTypeNormal, "Proven", what[:min(len(what), longestAction)], fmt.Sprintf("Step %q was done after its proof: %s.", what, proven.Evidence()))
		}
	}
}

// Teller is an effect that changes what a person did, and tells so once it is done.
type Teller interface {
	News() (reason fsm.Reason, note string) // "" is none
}

func traceNews(t *Trace, obj runtime.Object, outcomes []fsm.Outcome) {
	for _, o := range outcomes {
		if teller, is := o.Effect.(Teller); is && o.Err == nil {
			if reason, note := teller.News(); reason != "" {
				what := o.Effect.String()
				t.event(obj, corev1.EventTypeWarning, string(reason), what[:min(len(what), longestAction)], note)
			}
		}
	}
}

// lostRaces is how often in a row an effect may find that the world has changed before that
// is told: a stale view and a lost race are normal, and over with the next look.
const lostRaces = 4

// failed are the reasons of events about effects whose errors give none.
var failed = map[fsm.ErrorClass]fsm.Reason{
	fsm.Transient: "Retrying", fsm.Changed: "Retrying", fsm.Refused: ReasonRefused, fsm.Contested: ReasonFieldContested,
}

// traceFailures tells the first failure in a row at a place, the object's or a
// lane's; those that follow are in the status and in the metrics. One that led to a move was
// told with it.
func traceFailures[T Object[T]](t *Trace, obj T, at *meta.Place, moves []fsm.Hop, outcomes []fsm.Outcome) {
	for _, o := range outcomes {
		if o.Err == nil {
			continue
		}
		class := fsm.ClassOf(o.Err)
		metricEffectErrors.WithLabelValues(t.kind, string(class)).Inc()
		tell := at.Failures <= 1
		if class == fsm.Changed {
			tell = at.Failures == lostRaces
		}
		moved := slices.ContainsFunc(moves, func(h fsm.Hop) bool { return h.Message == o.Message() })
		if tell && !moved {
			reason := cmp.Or(fsm.ReasonOf(o.Err), failed[class])
			t.event(obj, corev1.EventTypeWarning, string(reason), string(obj.GetProgress().Phase), o.Message())
		}
	}
}
