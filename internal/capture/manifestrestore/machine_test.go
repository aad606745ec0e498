package manifestrestore

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0))

var theCheckpoint = &capturev1.ArtifactRef{APIVersion: "capture.statecraft.dev/v1alpha1", Kind: "ManifestCheckpoint", Name: "c", UID: "c1"}

func newRequest() *capturev1.ManifestRestoreRequest {
	return &capturev1.ManifestRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1", ResourceVersion: "7", Generation: 1, CreationTimestamp: createdAt},
		Spec: capturev1.ManifestRestoreRequestSpec{
			Source:         capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Name: "nightly"}},
			ConflictPolicy: capturev1.ConflictFail, DeadlineSeconds: 3600,
		},
		Status: capturev1.ManifestRestoreRequestStatus{},
	}
}

func newWorld() World {
	return World{
		Keeping: request.Keeping{Sight: presence.Gone, Namespace: "n1"},
		Rights:  request.Rights{Sight: request.Granted},
		Source:  Source{Sight: Found, Checkpoint: theCheckpoint},
		Volumes: Volumes{Listed: true},
	}
}

func bench() fsmtest.Bench[*capturev1.ManifestRestoreRequest, World] {
	return fsmtest.Bench[*capturev1.ManifestRestoreRequest, World]{
		Machine: &Machine,
		Object:  newRequest,
		World:   newWorld,
		Perform: Perform,
		Settle:  Settle,
		Any:     anyRequest,
		End:     "Succeeded/Completed",
		Also:    []string{"Failed/StatusLost"},
		Safe:    safe,
		Role:    role,
	}
}

// role: to look, or to write what bears our mark, once more does no harm.
func role(e fsm.Effect) string {
	if _, is := e.(Begin); is {
		return ""
	}
	return e.String()
}

// safe: nothing is written in a dry run, or before the names were looked at, or without the
// keeper; what may use volumes is neither written nor left out before their claims are there;
// and success means that nothing failed.
func safe(in input, s fsm.Step[*capturev1.ManifestRestoreRequest]) error {
	for _, e := range s.Decision.Do {
		begin, is := e.(Begin)
		switch {
		case in.World.Rights.Sight == request.Early || in.World.Rights.Sight == request.Unproven:
			return errors.New("acts for somebody whom nobody has checked")
		case !is && in.World.Rights.Sight != request.Granted:
			return errors.New("accepts a request of somebody who may not make it")
		case !is:
		case in.World.Keeping.Sight != presence.Here || begin.Keeper == "":
			return errors.New("begins without a proof that it did")
		case begin.Stage == Apply && in.Obj.Spec.DryRun:
			return errors.New("writes in a dry run")
		case begin.Stage == Apply && in.Obj.Status.Phase != Applying:
			return errors.New("writes without a plan")
		case begin.Stage == Apply && awaited(in) && (!in.World.Volumes.Listed || in.World.Volumes.Unmade != ""):
			return errors.New("writes before the claims are there")
		}
	}
	r := in.World.Work.Report
	for _, hop := range s.Hops {
		switch {
		case hop.To == Succeeded && (r == nil || !r.complete()):
			return errors.New("calls it a success when something is missing")
		case hop.To == Planning && in.World.Rights.Sight != request.Granted:
			return errors.New("restores for somebody who may not")
		case hop.To == Applying && obstructed(in, r):
			return errors.New("writes although a name is taken")
		case hop.From == Applying && hop.To == Verifying && awaited(in):
			return errors.New("calls written what waits for its claims")
		}
	}
	return nil
}

// awaited says that a job has stopped at claims that were not there.
func awaited(in input) bool {
	r, ended := in.World.Work.ended(Apply)
	return ended && r.Awaits != ""
}

func obstructed(in input, r *Report) bool {
	return in.Obj.Spec.ConflictPolicy == capturev1.ConflictFail && r != nil && r.Reasons[capturev1.ReasonConflict] > 0
}

// anyRights are what reviews may say; mostly yes.
var anyRights = []request.Rights{
	{}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted},
	{Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted},
	{Sight: request.Denied, Why: "The source is not of this namespace, and ann may not restore manifestcheckpoints.capture.statecraft.dev c"},
	{Sight: request.Unguarded, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
	{Sight: request.Early, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev was not in force yet when the request was made"},
	{Sight: request.Unproven, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
}

func anyRequest(r *rand.Rand, phase fsm.Phase) (*capturev1.ManifestRestoreRequest, World) {
	obj := newRequest()
	obj.Spec.ConflictPolicy = pick(r, capturev1.ConflictFail, capturev1.ConflictSkip, capturev1.ConflictReplace)
	obj.Spec.DryRun = r.IntN(4) == 0 && phase != Applying && phase != Verifying
	if r.IntN(3) == 0 {
		obj.Spec.NotAfter = &metav1.Time{Time: createdAt.Add(time.Duration(r.IntN(7200)-3600) * time.Second)}
	}
	if r.IntN(3) > 0 {
		obj.Status.CheckpointRef = theCheckpoint
	}
	if r.IntN(10) == 0 {
		obj.DeletionTimestamp = &createdAt
	}
	w := World{
		Keeping: request.Keeping{Sight: pick(r, presence.Here, presence.Here, "", presence.Gone, presence.Other), UID: "keeper", Namespace: pick(r, request.Keeping{}.Namespace, "n1")},
		Source:  Source{Sight: pick(r, Found, Found, "", Unfinished, Unusable, Absent, Foreign, Privileged), Checkpoint: theCheckpoint},
		Volumes: Volumes{Listed: r.IntN(4) > 0, Unsettled: pick(r, "", "", "v"), Unmade: pick(r, "", "", "v")},
		Work:    Work{Stage: pick(r, Plan, Apply, Look), State: pick(r, "", Running, Ended, Ended, Ended, Stopped)},
	}
	if w.Work.State == Ended {
		w.Work.Report = anyReport(r)
	}
	if w.Work.State == Ended && w.Work.Stage == Apply && r.IntN(4) == 0 { // only who writes awaits claims
		w.Work.Report = &Report{Awaits: "v"}
	}
	w.Rights = pick(r, anyRights...)
	return obj, w
}

func anyReport(r *rand.Rand) *Report {
	if r.IntN(8) == 0 {
		return pick(r,
			&Report{Refusal: capturev1.ReasonTampered, Message: "The checkpoint cannot be read: chunk 3: not what was written."},
			&Report{Refusal: capturev1.ReasonKeyMissing, Message: "The checkpoint cannot be read: unwrap with key \"2026\": the key is gone."},
			&Report{Refusal: capturev1.ReasonIncomplete, Message: "The chunks hold 7 objects, but the checkpoint lists 9."})
	}
	var results []capturev1.ObjectResult
	for range r.IntN(3) {
		one := capturev1.ObjectResult{Resource: "configmaps", Name: "a", Result: pick(r, capturev1.ResultCreated, capturev1.ResultCreated, capturev1.ResultSkipped, capturev1.ResultPending, capturev1.ResultFailed, capturev1.ResultFailed)}
		if one.Result == capturev1.ResultFailed {
			one.Reason = pick(r, capturev1.ReasonConflict, capturev1.ReasonConflict, capturev1.ReasonForbidden, ReasonUnserved)
		}
		results = append(results, one)
	}
	report := Tally(results)
	report.Blind = pick[int32](r, 0, 0, 0, 1)
	return report
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

func TestMachine(t *testing.T)     { fsmtest.Try(t, bench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, bench()) }

// TestPaths drills the other ends.
func TestPaths(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*capturev1.ManifestRestoreRequest)
		world  func(*World)
		settle func(*capturev1.ManifestRestoreRequest, World) World
		end    string
		also   []string
	}{
		"a dry run": {
			change: func(r *capturev1.ManifestRestoreRequest) { r.Spec.DryRun = true },
			end:    "Succeeded/Completed",
		},
		"a name is taken": {
			settle: ending(map[Stage]capturev1.ObjectResult{
				Plan: {Result: capturev1.ResultFailed, Reason: capturev1.ReasonConflict}, Look: {Result: capturev1.ResultFailed, Reason: capturev1.ReasonConflict},
			}),
			end: "Failed/Conflict", also: []string{"Failed/StatusLost"},
		},
		"a part could not be restored": {
			settle: ending(map[Stage]capturev1.ObjectResult{
				Plan: {Result: capturev1.ResultPending}, Apply: {Result: capturev1.ResultFailed, Reason: capturev1.ReasonForbidden},
				Look: {Result: capturev1.ResultFailed, Reason: capturev1.ReasonForbidden},
			}),
			end: "Failed/PartiallyRestored", also: []string{"Failed/StatusLost"},
		},
		"the capture failed": {
			world: func(w *World) { w.Source = Source{Sight: Unusable} },
			end:   "Failed/SourceNotReady", also: []string{"Failed/StatusLost"},
		},
		"too old": {
			change: func(r *capturev1.ManifestRestoreRequest) { r.Spec.NotAfter = &createdAt },
			end:    "Failed/Expired",
		},
		"out of time": {
			settle: func(_ *capturev1.ManifestRestoreRequest, w World) World {
				if w.Work.State == Running && w.Work.Stage == Look {
					w.Work.State, w.Work.Report = Ended, Tally([]capturev1.ObjectResult{{Result: capturev1.ResultPending}})
				}
				return w // the first job never ends
			},
			end: "Failed/DeadlineExceeded", also: []string{"Failed/StatusLost"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			b := bench()
			b.Object = func() *capturev1.ManifestRestoreRequest {
				r := newRequest()
				if c.change != nil {
					c.change(r)
				}
				return r
			}
			b.World = func() World {
				w := newWorld()
				if c.world != nil {
					c.world(&w)
				}
				return w
			}
			if c.settle != nil {
				b.Settle = c.settle
			}
			b.End, b.Also = c.end, c.also
			fsmtest.Drill(t, b)
		})
	}
}

// ending lets jobs end with one result each.
func ending(results map[Stage]capturev1.ObjectResult) func(*capturev1.ManifestRestoreRequest, World) World {
	return func(_ *capturev1.ManifestRestoreRequest, w World) World {
		if one, ends := results[w.Work.Stage]; ends && w.Work.State == Running {
			w.Work.State, w.Work.Report = Ended, Tally([]capturev1.ObjectResult{one})
		}
		return w
	}
}
