package manifestcapture

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/fsm/fsmtest"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

var createdAt = metav1.NewTime(time.Unix(1_700_000_000, 0))

type bench = fsmtest.Bench[*capturev1.ManifestCaptureRequest, World]

func newRequest() *capturev1.ManifestCaptureRequest {
	return &capturev1.ManifestCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "before", UID: "r1", ResourceVersion: "7", Generation: 1, CreationTimestamp: createdAt},
		Spec: capturev1.ManifestCaptureRequestSpec{
			Selector: &capturev1.ManifestSelector{}, DeadlineSeconds: 1800, IncludeSecrets: true,
			Volumes: []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "data"}, {Claim: "scratch", Empty: true}},
		},
	}
}

func newBench() bench {
	return bench{
		Machine: &Machine,
		Object:  newRequest,
		World: func() World {
			return World{
				Keeping: request.Keeping{Sight: presence.Gone, Namespace: "n1"}, Moment: "100", Keys: KeysUsable,
				Volumes: map[string]Volume{"data": VolumeReady}, Checkpoint: Checkpoint{Sight: presence.Gone}, Leftovers: []Leftover{},
				Rights: request.Rights{Sight: request.Granted}, Held: &Held{},
			}
		},
		Perform: Perform, Settle: Settle, Any: anyRequest,
		End: "Succeeded/Completed", Also: []string{"Failed/StatusLost"},
		Safe: safe,
		// To begin work again that is forgotten does no harm.
		Role: func(e fsm.Effect) string {
			switch e.(type) {
			case CreateKeeper, Remove:
				return e.String()
			}
			return ""
		},
	}
}

// safe: nothing is written before its keeper is there, nothing is read before the moment is
// saved, and nothing is called captured that was not read back whole.
func safe(in input, s fsm.Step[*capturev1.ManifestCaptureRequest]) error {
	for _, effect := range s.Decision.Do {
		if err := checked(in, effect); err != nil {
			return err
		}
		switch e := effect.(type) {
		case StartReading:
			if e.Moment == "" || e.Moment != in.Obj.Status.ResourceVersion {
				return errors.New("reads at a moment that is not saved")
			}
		case StartWriting:
			if e.Keeper == "" || in.World.Keeping.Sight != presence.Here {
				return errors.New("writes what nobody would own")
			}
		case Remove:
			if in.World.Work.State == Running {
				return errors.New("removes what is being made")
			}
			if in.Obj.Status.Failure == nil {
				return errors.New("removes what may be wanted")
			}
			if stays(in.Obj) {
				return errors.New("removes what may have been Ready, and be good")
			}
		}
	}
	for _, h := range s.Hops {
		if h.To == Reading && in.World.Rights.Sight != request.Granted {
			return errors.New("reads for somebody who may not")
		}
		_, _, many := in.World.Limits.Refusal(in.Obj.Namespace, nil)
		if many && h.From == Pending && h.To == Preparing {
			return errors.New("begins more than is allowed")
		}
		if h.To == Reading && in.World.Budget.Refuse("", *in.World.Held, 0) != nil {
			return errors.New("reads what nothing is left for")
		}
	}
	w := in.World
	whole := w.Checkpoint.Sight == presence.Here && w.Work.Task == TaskVerify && w.Work.Checked != nil && *w.Work.Checked == w.Checkpoint.Expected
	if in.Obj.Status.Phase != Succeeded && s.Obj.Status.Phase == Succeeded && !whole {
		return errors.New("calls captured what was not read back")
	}
	return nil
}

// checked: nothing is done for somebody whom nobody has checked, but to clean up.
func checked(in input, e fsm.Effect) error {
	_, first := e.(CreateKeeper)
	switch sight := in.World.Rights.Sight; {
	case in.Obj.Status.Phase == CleaningUp:
	case first && sight != request.Granted:
		return errors.New("accepts a request of somebody who may not make it")
	case sight == request.Early || sight == request.Unproven:
		return errors.New("acts for somebody whom nobody has checked")
	}
	return nil
}

func pick[V any](r *rand.Rand, from ...V) V { return from[r.IntN(len(from))] }

func anyRequest(r *rand.Rand, phase fsm.Phase) (*capturev1.ManifestCaptureRequest, World) {
	obj := newRequest()
	obj.Spec.IncludeSecrets = r.IntN(2) == 0
	if r.IntN(2) == 0 {
		obj.Spec.Volumes = nil
	}
	if phase != Pending && phase != Preparing && phase != "" && r.IntN(10) > 0 {
		obj.Status.ResourceVersion = pick(r, "99", "100")
	}
	if phase == CleaningUp && r.IntN(4) > 0 {
		obj.Status.Failure = &capturev1.RequestFailure{Reason: pick(r, capturev1.ReasonForbidden, capturev1.ReasonDeadlineExceeded), Message: "The request cannot be done."}
	}
	if (phase == Verifying || phase == CleaningUp) && r.IntN(3) == 0 {
		obj.Status.History = []meta.Transition{{To: Verifying, Event: fsm.Lost}}
	}
	n := int32(r.IntN(3))
	w := World{
		Keeping:    request.Keeping{Sight: pick(r, "", presence.Gone, presence.Other, presence.Here, presence.Here, presence.Here), UID: "keeper", Namespace: "n1"},
		Moment:     pick(r, "", "100"),
		Keys:       pick(r, "", KeysUsable, KeysUsable, KeysMissing, KeysInvalid),
		Volumes:    map[string]Volume{"data": pick(r, "", VolumeReady, VolumeReady, VolumePending, VolumeMissing, VolumeFailed, VolumeOther)},
		Work:       Work{Task: pick(r, "", TaskRead, TaskWrite, TaskVerify), State: pick(r, "", Running, Ended, Ended), Expired: r.IntN(5) == 0},
		Checkpoint: Checkpoint{Sight: pick(r, "", presence.Gone, presence.Other, presence.Here, presence.Here), Name: "r1", UID: "c1", Found: Found{Expected: n}},
	}
	if r.IntN(5) == 0 {
		verdict := pick(r, verdicts...)
		w.Work.Verdict = &verdict
	}
	if r.IntN(3) > 0 {
		w.Work.Found, w.Work.Checked = &Found{Expected: n}, &n
	}
	if r.IntN(6) == 0 {
		w.Work.Checked = pick(r, new(int32(7)), nil)
	}
	switch r.IntN(3) {
	case 0:
		w.Leftovers = []Leftover{}
	case 1:
		w.Leftovers = []Leftover{{KindCheckpoint, "r1", "c1", "1"}, {KindChunk, "r1-0-a", "c2", "2"}}
	}
	w.Rights = pick(r, anyRights...)
	w.Held, w.Budget = pick(r, nil, &Held{}, &Held{}, &Held{All: 512 << 20, Namespace: 256 << 20}), pick(r, Budget{}, Budget{All: 512 << 20}, Budget{Namespace: 256 << 20})
	w.Limits = request.Limits{Captures: pick(r, 0, 0, 5), Kept: 5}
	return obj, w
}

// anyRights are what reviews may say; mostly yes.
var anyRights = []request.Rights{
	{}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted}, {Sight: request.Granted},
	{Sight: request.Denied, Why: "The capture includes Secrets, and ann may not get secrets of namespace shop"},
	{Sight: request.Unguarded, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
	{Sight: request.Early, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev was not in force yet when the request was made"},
	{Sight: request.Unproven, Why: "ValidatingAdmissionPolicy requester.capture.statecraft.dev is missing"},
}

// verdicts are those that work has on a request, in the words of package act.
var verdicts = []manifest.Refusal{
	{Reason: capturev1.ReasonForbidden, Message: "ServiceAccount statecraft-capture of namespace shop may not read everything."},
	{Reason: capturev1.ReasonKeyMissing, Message: "The key that the checkpoint was encrypted with is gone; put it back into Secret statecraft-capture-keys."},
	{Reason: capturev1.ReasonNotFound, Message: "The request names deployments.apps web, which does not exist."},
	{Reason: capturev1.ReasonInvalidTarget, Message: "The request names events, which are never captured: NotAtOneTime."},
	{Reason: capturev1.ReasonTooLarge, Message: "There is more than the 64 MiB that a checkpoint holds; capture less with one request."},
	{Reason: capturev1.ReasonTampered, Message: "The manager read back something else than it wrote; make another request."},
}

func TestMachine(t *testing.T)     { fsmtest.Try(t, newBench()) }
func TestTranscripts(t *testing.T) { fsmtest.Transcripts(t, newBench()) }

// TestRestartPath drills a process that ends once in every kind of work: nobody remembers it.
func TestRestartPath(t *testing.T) {
	b := newBench()
	b.Settle = func(r *capturev1.ManifestCaptureRequest, w World) World {
		if w.Work.State == Running && w.Volumes[string(w.Work.Task)] == "" {
			w.Volumes = map[string]Volume{"data": VolumeReady, string(w.Work.Task): VolumeOther} // a mark
			w.Work = Work{}
			return w
		}
		return Settle(r, w)
	}
	fsmtest.Drill(t, b)
}

// TestMomentLostPath drills a moment that the API server forgets, in reading and in writing.
func TestMomentLostPath(t *testing.T) {
	b := newBench()
	b.Settle = func(r *capturev1.ManifestCaptureRequest, w World) World {
		if w.Work.State == Running && w.Work.Task == TaskRead && r.Status.ResourceVersion == "100" {
			w.Work.State, w.Work.Expired, w.Moment = Ended, true, "200"
			return w
		}
		if w.Work.Expired && r.Status.ResourceVersion == "200" { // work at another moment is not of this
			w.Work = Work{}
			return w
		}
		return Settle(r, w)
	}
	fsmtest.Drill(t, b)
}

// TestFailurePath drills a failure while chunks are being written.
func TestFailurePath(t *testing.T) {
	b := newBench()
	b.Settle = func(r *capturev1.ManifestCaptureRequest, w World) World {
		if w.Work.State == Running && w.Work.Task == TaskWrite {
			w.Work.State, w.Work.Verdict = Ended, &manifest.Refusal{Reason: capturev1.ReasonNameTaken, Message: "The name of a chunk is taken."}
			w.Leftovers = []Leftover{{KindCheckpoint, "r1", "c1", "1"}, {KindChunk, "r1-0-a", "c2", "2"}}
			return w
		}
		return Settle(r, w)
	}
	b.End = "Failed/NameTaken"
	fsmtest.Drill(t, b)
}

// TestLatePath drills a deadline that passes while work goes on for ever.
func TestLatePath(t *testing.T) {
	b := newBench()
	b.Settle = func(_ *capturev1.ManifestCaptureRequest, w World) World { return w }
	b.End = "Failed/DeadlineExceeded"
	fsmtest.Drill(t, b)
}
