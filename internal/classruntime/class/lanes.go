package class

import (
	"slices"
	"time"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/classruntime/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// lanes enforce what functions need, one lane each, while the class is available.
var lanes = fsm.Lanes[*runtimev1.ClassRuntime, World]{
	Rules: enforce.Rules(ask, scale, append(watched(), "self")...),
	In:    []fsm.Phase{Available},
	Want:  enforced,
	At:    laneAt,
}

type laneInput = fsm.LaneInput[*runtimev1.ClassRuntime, World]

// enforced are the functions with a lane, by key. A paused class changes nothing.
func enforced(in input) (keys []string) {
	if in.Obj.Spec.Paused || !in.World.Looked {
		return nil
	}
	for _, f := range in.World.Functions {
		if f.hasLane() {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// hasLane says that we set the replicas of a function by what it needs. None starts a function again that was stopped, and none
// is beside an autoscaler.
func (f Function) hasLane() bool {
	return f.Enforced && f.isMeasured() && f.Replicas != nil && f.Replicas.Live > 0 && len(f.Engines) == 0 && !f.asksForEngine()
}

// field is whose the replicas are. While a lane governs they stay what they are, and are no fewer than the spec asks for: only the
// lane itself takes any away.
func (f Function) field() ownership.Field {
	field := *f.Replicas
	if f.hasLane() {
		n := max(field.Live, f.Floor)
		field.Lane = &n
	}
	return field
}

func (w World) function(key string) (f Function, has bool) {
	i := slices.IndexFunc(w.Functions, func(f Function) bool { return f.Key == key })
	if i < 0 {
		return f, false
	}
	return w.Functions[i], true
}

// ask is what the decision about a lane follows from.
func ask(i laneInput) enforce.Input { return about(i.Input, i.Lane, i.Place) }

func about(in input, key string, place meta.Place) enforce.Input {
	f, _ := in.World.function(key)
	is := enforce.Input{
		Settings: spec.SettingsOf(in.Obj, f.Floor), Lane: laneOf(in.Obj, key), Phase: place.Phase, Entered: place.Since.Time, Now: in.Now,
	}
	if !f.hasLane() {
		return is
	}
	r := recommend(f, is.StaleAfter, in.Now)
	is.Recommended, is.Current = r.Recommendation, true // it is computed in this very pass
	is.Evidence = enforce.EvidenceOf(f.Measured.Facts, f.scraped(in.Now), in.Now)
	is.Applied = &f.Replicas.Live
	by, claimed := f.field().Claimed()
	is.Taken, is.Retaken = by, !claimed || f.isTakenBack(in)
	return is
}

// isTakenBack says that a person asked for the number of a lane, after another had set it.
func (f Function) isTakenBack(in input) bool { return f.hasLane() && f.retakes(in) }

// scraped are the pods that should be measured. A pod is as old as the last change of its readiness: before that it may not have
// had any share of the load.
func (f Function) scraped(now time.Time) (pods load.Pods) {
	pods.Ready = f.answering()
	for i, p := range f.Pods {
		if age := now.Sub(at(p.Since)); i == 0 || age < pods.Youngest {
			pods.Youngest = age
		}
	}
	return pods
}

// scale sets the number that a lane has decided on.
func scale(i laneInput, to int32) fsm.Effect {
	f, _ := i.World.function(i.Lane)
	e := Scale{Function: f.Key, From: f.Replicas.Live, To: to, Retake: f.retakes(i.Input)}
	for _, c := range f.Children {
		if c.Kind == KindDeployment {
			e.Ref = c.Ref
		}
	}
	return e
}
