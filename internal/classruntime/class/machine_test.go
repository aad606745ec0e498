package class

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/ownership"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/podstate"
)

type bench = fsmtest.Bench[*runtimev1.ClassRuntime, World]

func newBench() bench {
	return bench{
		Machine: &Machine, Object: newClass, World: nothing, Perform: Perform, Settle: Settle,
		Gone: func(w World) bool { return w.Gone },
		Any:  anyClass, End: string(Available), Safe: safe,
	}
}

// newClass is a class as a user posts it.
func newClass() *runtimev1.ClassRuntime {
	return &runtimev1.ClassRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "c1", ResourceVersion: "7", Generation: 1},
		Spec: runtimev1.ClassRuntimeSpec{
			Functions:               []runtimev1.Function{{Key: "add", Image: "add:1"}, {Key: "total", Image: "total:1"}},
			ProgressDeadlineSeconds: 60,
		},
	}
}

// nothing is a World in which nothing was made yet.
func nothing() World {
	return World{Looked: true, Functions: []Function{blank("add", 2), blank("total", 1)}}
}

func blank(key string, floor int32) Function {
	name := "cart-" + key
	return Function{
		Key: key, Name: name, Service: name, Port: 8080, Floor: floor,
		Children: []Child{{Ref: Ref{Kind: KindDeployment, Name: name}}, {Ref: Ref{Kind: KindService, Name: name}}},
	}
}

// standing is a World in which everything runs.
func standing() World {
	w := nothing()
	for _, f := range w.Functions {
		for _, c := range f.Children {
			w = Perform(w, Apply{[]Target{{Function: f.Key, Ref: c.Ref}}})
		}
	}
	return Settle(nil, w)
}

// safe: a class is not ready unless all of it is; only what is outdated is applied; and only what is left over goes.
func safe(in input, s fsm.Step[*runtimev1.ClassRuntime]) error {
	phase, was := s.Obj.Status.Phase, in.Obj.Status.Phase
	if phase == Available && was != Available && !allReady(in) {
		return errors.New("becomes available while a function is not ready")
	}
	if _, is := lost(in.World); phase == Available && is && in.World.Looked {
		return errors.New("stays available while a function has lost its replicas")
	}
	for _, e := range s.Decision.Do {
		if in.Obj.Spec.Paused {
			return fmt.Errorf("does %s while it is paused", e)
		}
		if a, is := e.(Scale); is {
			if err := safeToScale(in, a); err != nil {
				return err
			}
		}
		if a, is := e.(Apply); is {
			if err := safeToApply(in, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// safeToApply: no number of replicas falls, unless the spec or a person asks for that; and what is fought over is left alone.
func safeToApply(in input, a Apply) error {
	if len(a.Children) == 0 {
		return errors.New("applies nothing")
	}
	for _, t := range a.Children {
		for _, f := range in.World.Functions {
			if slices.ContainsFunc(f.Children, func(c Child) bool { return c.Kind == t.Kind && c.Name == t.Name && c.Going != "" }) {
				return fmt.Errorf("applies %s, which is going", t)
			}
		}
		_, left := pauseOf(in, t)
		if left > 0 && !t.Retake {
			return fmt.Errorf("applies %s, which is to be left alone", t)
		}
		f, _ := in.World.function(t.Function)
		if t.Kind == KindAutoscaler && slices.ContainsFunc(f.Engines, func(e Engine) bool { return !e.Ours }) && t.UID == "" {
			return fmt.Errorf("makes %s beside another", t)
		}
		if t.Kind != KindDeployment || f.Replicas == nil {
			continue
		}
		was := *f.Replicas
		after, _ := Perform(in.World, Apply{[]Target{t}}).function(t.Function)
		is := after.Replicas
		if was.Engine != "" && was.Live > 0 && is.Live != was.Live {
			return fmt.Errorf("sets the replicas of %s while %s does", t, was.Engine)
		}
		if is.Live < was.Live && !mayFall(was) && !t.Retake {
			return fmt.Errorf("lets the replicas of %s fall", t)
		}
		if _, asked := retakeTime(in.Obj); t.Retake && !asked {
			return fmt.Errorf("retakes the replicas of %s unasked", t)
		}
	}
	return nil
}

// mayFall says that the spec was edited, and that this is no edit of the time of an autoscaler that is gone.
func mayFall(f ownership.Field) bool {
	kept := slices.ContainsFunc(f.Owners, func(o ownership.Owner) bool { return o.Applied })
	return f.Asked != nil && *f.Asked != f.Want && (kept || len(f.Owners) == 0)
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

// anyClass is a class in some state in which something may have happened.
func anyClass(r *rand.Rand, phase fsm.Phase) (*runtimev1.ClassRuntime, World) {
	c, w := newClass(), pick(r, nothing, standing, standing, standing)()
	c.Spec.Paused = r.IntN(8) == 0
	c.Status.ObservedGeneration = int64(r.IntN(2))
	if r.IntN(20) == 0 {
		c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	}
	if r.IntN(4) == 0 {
		c.Annotations = map[string]string{runtimev1.RetakeAnnotation: time.Unix(1_700_000_000+int64(r.IntN(100_000)), 0).UTC().Format(time.RFC3339)}
	}
	for _, f := range w.Functions {
		if r.IntN(4) == 0 {
			since := metav1.Unix(1_700_000_000-int64(r.IntN(100)), 0)
			c.Status.Functions = append(c.Status.Functions, runtimev1.FunctionStatus{Key: f.Key, Replicas: runtimev1.FunctionReplicas{OverriddenSince: &since}})
		}
	}
	if r.IntN(4) == 0 {
		until := metav1.Unix(1_700_000_000+int64(r.IntN(100_000)), 0)
		c.Status.Contested = []runtimev1.ContestedField{{
			Kind: KindDeployment, Name: "cart-add", Field: ".spec.strategy", Count: 5, Pauses: 1, PausedUntil: &until, Times: []metav1.Time{metav1.Unix(1_699_999_000, 0)},
		}}
	}
	if phase == Degraded {
		c.Status.History = []meta.Transition{pick(r,
			meta.Transition{To: Degraded, Event: Overdue, Reason: ReasonTimeout, Message: "It took too long."},
			meta.Transition{To: Degraded, Event: Failed, Reason: ReasonCrashLoop, Message: "It crashed."},
			meta.Transition{To: Degraded, Event: Refused, Reason: ReasonConflict, Message: `Others own fields of Deployment cart-add: .spec.replicas is set by "scaler". Remove the fields there, or delete the object.`},
			meta.Transition{To: Degraded, Event: Refused, Reason: ReasonNameTaken, Message: "Deployment cart-add exists and is controlled by no controller: remove or rename it."},
		)}
	}
	if r.IntN(3) == 0 {
		happen(r, &w)
	}
	if r.IntN(3) == 0 {
		happen(r, &w)
	}
	w.Looked = r.IntN(12) > 0
	if r.IntN(2) == 0 || phase == Available {
		measure(r, c, &w)
		if r.IntN(2) == 0 || phase == Available {
			enforceSome(r, c, &w)
		}
	}
	for i := range c.Status.Functions { // what was seen is what there is
		s := &c.Status.Functions[i]
		if f, has := w.function(s.Key); has && f.Replicas != nil {
			s.Replicas.Desired = f.Replicas.Live
		}
	}
	return c, w
}

// measure lets something be known of the loads of functions, and something else of a time before.
func measure(r *rand.Rand, c *runtimev1.ClassRuntime, w *World) {
	c.Spec.Telemetry = &runtimev1.Telemetry{Source: "main"}
	at := func() time.Time { return time.Unix(1_700_000_000+int64(r.IntN(100_000)), 0) }
	for i := range w.Functions {
		f := &w.Functions[i]
		f.Measured = &Measured{PerReplica: pick(r, 0, 10, 10.0), Facts: load.Facts{
			Traffic: pick(r, load.Unknown, load.Silent, load.Measured), RPS: pick(r, 5, 60.0), Pods: 1, Coverage: 1, LeastCoverage: 1, SampledAt: at(), Latency: time.Second,
		}}
		f.Measured.MinRPS, f.Measured.MaxLatency = pick(r, 0, 0, 90.0), pick(r, 0, 100*time.Millisecond)
		if problem := pick(r, "", "", ReasonNotMeasured, ReasonSourceUnknown, ReasonSourceUnavailable, ReasonQueryInvalid, ReasonRequirementInvalid); problem != "" {
			f.Measured.Facts, f.Measured.Problem, f.Measured.Words = load.Facts{}, problem, problems[problem]
		}
		if r.IntN(2) == 0 {
			was := metav1.NewTime(at())
			c.Status.NFRRecommendations = append(c.Status.NFRRecommendations, runtimev1.Recommendation{
				Function: f.Key, Dimension: runtimev1.DimensionReplicas, Value: ptr.To(int32(3)), Basis: "Throughput", SampledAt: &was, Generation: 1,
			})
		}
	}
}

// problems are words of the observer.
var problems = map[fsm.Reason]string{
	ReasonNotMeasured:        "Waiting for the next look at source main.",
	ReasonSourceUnknown:      "The installation has no source of telemetry that is called main.",
	ReasonSourceUnavailable:  "Source main does not answer, so nothing newer is known.",
	ReasonQueryInvalid:       "Source main refuses the question: query is invalid: unknown function.",
	ReasonRequirementInvalid: "requirements.availabilityPercent is no percentage below 100.",
}

// happen lets one thing happen to a World.
func happen(r *rand.Rand, w *World) {
	f := &w.Functions[r.IntN(len(w.Functions))]
	now := int64(1_700_000_000) + int64(r.IntN(100_000))
	pod := Pod{Name: f.Name + "-x", Since: now - int64(r.IntN(200))}
	if f.Invalid != "" {
		return
	}
	switch r.IntN(15) {
	case 0:
		f.Children[r.IntN(2)].Current = false
	case 1:
		f.Invalid, f.Children = "Function add has no image: set image.", nil
	case 2:
		w.Orphans = append(w.Orphans, Ref{KindDeployment, "cart-old", "u9", "3"})
	case 3:
		f.Rollout.Refused, f.Rollout.RefusedSince = "exceeded quota: pods", now
		f.Rollout.Ready, f.Rollout.Available = 0, 0
	case 4:
		f.Rollout.Stuck, f.Rollout.Ready = true, 0
	case 5:
		pod.Trouble = podstate.Trouble{
			Reason: pick(r, podstate.CrashLoopBackOff, podstate.ImagePullBackOff, podstate.CreateContainerConfigError, podstate.Unschedulable),
			Words:  "Container function of pod cart-add-x cannot start.",
		}
		f.Pods, f.Rollout.Ready = []Pod{pod}, 0
	case 6:
		pod.Crash = Crash{Container: "function", Restarts: 4, Started: now, Ended: now + 1, Exit: 1}
		pod.Ready = r.IntN(2) == 0
		f.Pods = []Pod{pod}
	case 7:
		f.Rollout.Total = f.Rollout.Updated + 1
	case 8: // one of two is drained
		f.Rollout.Ready, f.Rollout.Available = f.Rollout.Ready-1, f.Rollout.Available-1
		if len(f.Pods) > 0 {
			f.Pods[0].Ready, f.Pods[0].Since = false, pod.Since
		}
	case 9:
		f.Floor, f.Pods, f.Rollout, f.Replicas = 0, nil, Rollout{Seen: true}, nil
	case 10:
		f.Children[0].Current, f.Children[0].Edits = false, []Edit{{Field: ".spec.strategy", By: pick(r, "", "kubectl-patch")}}
	case 11:
		f.Engines = []Engine{{Name: "HorizontalPodAutoscaler theirs", Min: 1, Blind: pick(r, "", "no metrics are known.")}}
		if r.IntN(2) == 0 && len(f.Children) > 0 {
			f.Children = append(f.Children, Child{Ref: Ref{Kind: KindAutoscaler, Name: f.Name}})
		}
		f.govern()
	case 12, 13:
		if !f.has(KindDeployment) {
			return
		}
		live, asked := int32(r.IntN(6)), f.Floor
		f.Replicas = &ownership.Field{Live: live, Want: f.Floor + int32(r.IntN(2)), Asked: &asked, Owners: pick(r, owners...)}
		f.Rollout.Desired = live
		f.govern()
	case 14:
		f.Children[r.IntN(2)].Current, f.Children[r.IntN(2)].Going = false, "it is being deleted"
	}
}

// owners are who may own the replicas of a function.
var owners = [][]ownership.Owner{
	{{Manager: child.Manager(ownership.SpecController), Applied: true}},
	{{Manager: "kubectl", Scale: true}},
	{{Manager: "kube-controller-manager", Scale: true}},
	{{Manager: "kube-controller-manager", Scale: true}, {Manager: child.Manager(ownership.SpecController), Applied: true}},
	nil,
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }
