package volumerestore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0))

type bench = fsmtest.Bench[*capturev1.VolumeRestoreRequest, World]

func newBench() bench {
	return bench{
		Machine: &Machine,
		Object:  newRequest,
		World: func() World {
			return World{
				Keeping: request.Keeping{Sight: presence.Gone, Namespace: "n1"},
				Rights:  request.Rights{Sight: request.Granted},
				Source:  snapshot(),
				Claim:   Claim{Sight: presence.Gone},
				Probe:   Probe{Sight: NoProbe},
			}
		},
		Perform: Perform, Settle: Settle, Any: anyRestore, Safe: safe,
		End:  "Succeeded/Completed",
		Also: []string{"Failed/StatusLost"},
	}
}

func newRequest() *capturev1.VolumeRestoreRequest {
	return &capturev1.VolumeRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1", Generation: 1, CreationTimestamp: createdAt},
		Spec: capturev1.VolumeRestoreRequestSpec{
			Source: capturev1.VolumeSource{VolumeCaptureRequest: &capturev1.RequestRef{Name: "daily"}},
			VolumeClaimTemplate: capturev1.VolumeClaimTemplate{Name: "data", Spec: capturev1.RestoredClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			}},
			DeadlineSeconds: 3600, OnTransientError: capturev1.WaitUntilDeadline,
		},
		Status: capturev1.VolumeRestoreRequestStatus{Progress: meta.Progress{ObservedGeneration: -1}},
	}
}

func snapshot() Source {
	return Source{
		Sight: Ready, What: "VolumeCaptureRequest shop/daily", Mode: corev1.PersistentVolumeFilesystem,
		Resolved: &capturev1.ResolvedSource{Driver: "disks.example.com", SnapshotHandle: "snap-1", RestoreSize: quantity("1Gi")},
		Class:    Class{Name: "disks", Provisioner: "disks.example.com"},
	}
}

func detached() Source {
	s := snapshot()
	s.Resolved = &capturev1.ResolvedSource{Driver: s.Resolved.Driver, Volume: &capturev1.DetachedSource{Name: "pv-1", UID: "p1", HolderUID: "h1"}}
	s.Class, s.Capacity = Class{}, quantity("1Gi")
	return s
}

func quantity(s string) *resource.Quantity {
	q := resource.MustParse(s)
	return &q
}

// safe: what would lose data, or claim that there is some.
func safe(in input, s fsm.Step[*capturev1.VolumeRestoreRequest]) error {
	w := in.World
	for _, e := range s.Decision.Do {
		_, deletes := e.(DeleteClaim)
		_, ends := e.(DeleteProbe)
		_, makes := e.(CreateProbe)
		_, first := e.(CreateKeeper)
		switch {
		case first && w.Rights.Sight != request.Granted:
			return errors.New("accepts a request of somebody who may not make it")
		case makes && w.Rights.Sight != request.Granted:
			return errors.New("runs a Job for somebody who may not")
		case ends && w.Probe.Deleting:
			return errors.New("deletes a Job that is deleted")
		case deletes && !w.Claim.empty():
			return errors.New("deletes a claim that holds data, or is somebody else's")
		case deletes && w.Claim.Reserved:
			return errors.New("deletes a claim whose name must stay taken")
		}
	}
	for _, h := range s.Hops {
		switch {
		case h.Event == fsm.Created && w.Keeping.Sight == presence.Here:
			return errors.New("begins again what had begun")
		case h.To != CleaningUp && h.From != "" && h.From != CleaningUp && w.Rights.Sight == request.Early:
			return errors.New("goes on for somebody whom nobody has checked")
		case h.To == Restoring && w.Keeping.Sight != presence.Here:
			return errors.New("lets the restorer begin before anything proves it")
		case h.From == Preparing && h.To == Restoring && w.Rights.Sight != request.Granted:
			return errors.New("restores for somebody who may not")
		case h.To == Succeeded && !w.Claim.bound() && h.From != Rehearsing:
			return errors.New("calls a restore done that is not")
		case h.To == Succeeded && in.Obj.Spec.Rehearsal != nil && w.Probe.Sight != ProbePassed:
			return errors.New("calls a rehearsal done whose Job did not succeed")
		case h.From == Pending && h.To == Preparing && refused(in).given():
			return fmt.Errorf("accepts what must be refused: %v", refused(in))
		}
	}
	return nil
}

func anyRestore(r *rand.Rand, phase fsm.Phase) (*capturev1.VolumeRestoreRequest, World) {
	obj := newRequest()
	obj.Spec.OnTransientError = pick(r, capturev1.WaitUntilDeadline, capturev1.FailAtOnce)
	obj.Spec.DeadlineSeconds = pick(r, int32(60), 3600, 604800)
	if r.IntN(3) == 0 {
		obj.Spec.Rehearsal = &capturev1.Rehearsal{}
	}
	if phase == CleaningUp && r.IntN(5) > 0 {
		obj.Status.Failure = &capturev1.RequestFailure{Reason: capturev1.ReasonDeadlineExceeded}
	}
	if phase != Pending && r.IntN(4) > 0 {
		obj.Status.Source = snapshot().Resolved
	}
	s := pick(r, snapshot(), snapshot(), detached())
	s.Why = "names what another request has made"
	s.Sight = pick(r, "", Ready, Ready, Ready, Ready, Unfinished, Missing, NotReady, Foreign, Consumed, Unfit)
	s.Mode = pick(r, s.Mode, s.Mode, s.Mode, "", corev1.PersistentVolumeBlock)
	s.Class = pick(r, s.Class, s.Class, s.Class, Class{}, Class{Missing: true}, Class{Name: "a", Provisioner: "another"})
	return obj, World{
		Keeping: request.Keeping{Sight: pick(r, "", presence.Gone, presence.Here, presence.Here, presence.Other), UID: "keeper", Namespace: "n1"},
		Source:  s,
		Claim: Claim{
			Sight: pick(r, "", presence.Gone, presence.Gone, presence.Here, presence.Here, presence.Other), UID: "claim", ResourceVersion: "1", Deleting: r.IntN(6) == 0, Reserved: r.IntN(3) == 0,
			Volume:  pick(r, "", TheRestored, Another, Awaiting),
			Trouble: pick(r, "", "", capturev1.ReasonDriverError, capturev1.ReasonSourceConsumed), Words: "The CSI driver cannot make the volume: no space.",
		},
		Probe:  Probe{Sight: pick(r, "", NoProbe, ProbeRuns, ProbePassed, ProbeFailed, ProbeTaken), UID: "job", ResourceVersion: "1", Deleting: r.IntN(3) == 0},
		Rights: pick(r, anyRights...),
	}
}

// anyRights are what reviews may say; mostly yes.
var anyRights = []request.Rights{
	{}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted},
	{Sight: request.Denied, Why: "A rehearsal runs a Job, and ann may not create jobs.batch of namespace shop"},
	{Sight: request.Unguarded, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
	{Sight: request.Early, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev was not in force yet when the request was made"},
	{Sight: request.Unproven, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }

// TestRehearsalPath drills a trial that succeeds.
func TestRehearsalPath(t *testing.T) { fsmtest.Drill(t, rehearsing(newBench())) }

func rehearsing(b bench) bench {
	b.Object = func() *capturev1.VolumeRestoreRequest {
		obj := newRequest()
		obj.Spec.Rehearsal = &capturev1.Rehearsal{}
		return obj
	}
	return b
}

// TestFailedProbePath drills a trial that fails.
func TestFailedProbePath(t *testing.T) {
	b := rehearsing(newBench())
	b.Settle = func(r *capturev1.VolumeRestoreRequest, w World) World {
		if w.Probe.Sight == ProbeRuns {
			w.Probe.Sight, w.Probe.Words = ProbeFailed, "BackoffLimitExceeded"
			return w
		}
		return Settle(r, w)
	}
	b.End = "Failed/ProbeFailed"
	fsmtest.Drill(t, b)
}

// TestHeldProbePath drills a trial whose Job neither ends nor goes: somebody has a finalizer on it.
func TestHeldProbePath(t *testing.T) {
	b := rehearsing(newBench())
	rehearsal := b.Object
	b.Object = func() *capturev1.VolumeRestoreRequest {
		obj := rehearsal()
		obj.Spec.DeadlineSeconds = 60
		return obj
	}
	b.Settle = func(r *capturev1.VolumeRestoreRequest, w World) World {
		if w.Probe.Sight == ProbeRuns {
			return w
		}
		return Settle(r, w)
	}
	b.Perform = func(w World, e fsm.Effect) World {
		if _, is := e.(DeleteProbe); is {
			w.Probe.Deleting = true
			return w
		}
		return Perform(w, e)
	}
	b.End = "Failed/DeadlineExceeded"
	fsmtest.Drill(t, b)
}

// TestDriverErrorPath drills a restore that is given up when the driver fails; its claim goes.
func TestDriverErrorPath(t *testing.T) {
	b := newBench()
	b.Object = func() *capturev1.VolumeRestoreRequest {
		obj := newRequest()
		obj.Spec.OnTransientError = capturev1.FailAtOnce
		return obj
	}
	b.Settle = func(r *capturev1.VolumeRestoreRequest, w World) World {
		if r.Status.Phase == Restoring && w.Claim.empty() {
			w.Claim.Trouble, w.Claim.Words, w.Claim.ResourceVersion = capturev1.ReasonDriverError, "The CSI driver cannot make the volume: no space.", "2"
			return w
		}
		return Settle(r, w)
	}
	b.End = "Failed/DriverError"
	fsmtest.Drill(t, b)
}

// unfilled is a World in which no claim ever gets a volume.
func unfilled(r *capturev1.VolumeRestoreRequest, w World) World {
	if r.Status.Phase == Restoring && w.Claim.empty() {
		return w
	}
	return Settle(r, w)
}

// TestDeadlinePath drills a restore that nobody carries out.
func TestDeadlinePath(t *testing.T) {
	b := newBench()
	b.Settle, b.End = unfilled, "Failed/DeadlineExceeded"
	fsmtest.Drill(t, b)
}

// TestReservedPath drills the same of a restore of manifests: the claim keeps its name taken.
func TestReservedPath(t *testing.T) {
	b := newBench()
	b.World = func() World {
		w := newBench().World()
		w.Claim.Reserved = true
		return w
	}
	b.Settle, b.End = unfilled, "Failed/DeadlineExceeded"
	fsmtest.Drill(t, b)
}

// TestLateBinding: a claim that is bound while it is being given up is a success.
func TestLateBinding(t *testing.T) {
	b := newBench()
	b.Settle = func(r *capturev1.VolumeRestoreRequest, w World) World {
		if r.Status.Phase == Restoring && w.Claim.empty() {
			return w
		}
		return Settle(r, w)
	}
	b.Perform = func(w World, e fsm.Effect) World {
		if _, is := e.(DeleteClaim); is && w.Claim.UID == types.UID("claim") { // it was bound a moment before
			w.Claim.Volume = TheRestored
			return w
		}
		return Perform(w, e)
	}
	fsmtest.Drill(t, b)
}
