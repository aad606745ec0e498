package observe

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// attempt is what a manager does with a request in the first pass over it.
type attempt struct {
	moves []fsm.Phase // that it goes to
	acts  []string
}

// goesOn says that the request was carried on. One that has a keeper and no phase has lost its status: where it seems to
// have been is judged there.
func (a attempt) goesOn(from fsm.Phase) bool {
	return from != "" && slices.ContainsFunc(a.moves, func(to fsm.Phase) bool { return to != "Failed" && to != "CleaningUp" })
}

// ends says that the request was refused.
func (a attempt) ends() bool {
	last := len(a.moves) - 1
	return last >= 0 && (a.moves[last] == "Failed" || a.moves[last] == "CleaningUp")
}

// machinist observes a request of one kind, and lets its machine decide.
type machinist struct {
	phases []fsm.Phase // that are not final
	try    func(t *testing.T, phase fsm.Phase, s scenery) attempt
}

// scenery is what a cluster has besides the request, and what the guard says.
type scenery struct {
	verdict guard.Verdict
	objects []client.Object
}

func (s scenery) rights() Rights {
	r := reviews{allows: true, verdict: s.verdict}
	return r.rights()
}

// step is one pass.
func step[O fsm.Subject[O], W any](t *testing.T, m *fsm.Machine[O, W], obj O, observe func(context.Context, O) (W, error)) attempt {
	t.Helper()
	w, err := observe(t.Context(), obj)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Step(fsm.Input[O, W]{Obj: obj, World: w, Now: installed.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	var a attempt
	for _, h := range s.Hops {
		a.moves = append(a.moves, h.To)
	}
	for _, e := range s.Decision.Do {
		a.acts = append(a.acts, e.String())
	}
	return a
}

func unfinished[I any](rules fsm.Rules[I]) (all []fsm.Phase) {
	for phase, rule := range rules.Phases {
		if rule.Decide != nil {
			all = append(all, phase)
		}
	}
	return append(all, "")
}

// made is the request of a forger, from before the policies.
var made = metav1.ObjectMeta{Namespace: "shop", Name: "forged", UID: "r1", CreationTimestamp: metav1.NewTime(installed.Add(-time.Hour))}

var master = &meta.Requester{Username: "admin", Groups: []string{"system:masters"}}

// machinists are all kinds of requests, each with a status that somebody filled in.
func machinists() map[string]machinist {
	stolen := &capturev1.ArtifactRef{Kind: "ManifestCheckpoint", Name: "theirs", UID: "c1"}
	return map[string]machinist{
		"VolumeCaptureRequest": {unfinished(volumecapture.Machine.Rules), func(t *testing.T, phase fsm.Phase, s scenery) attempt {
			r := &capturev1.VolumeCaptureRequest{ObjectMeta: made, Spec: capturev1.VolumeCaptureRequestSpec{Requester: master, Mode: capturev1.Snapshot, DeadlineSeconds: 86400}}
			r.Spec.Target.Name, r.Status.Phase = "data", phase
			c := serving(t, append(s.objects, r)...)
			o := VolumeCapture{Keeping: Keeping{Cached: c, Live: read.Live{Reader: c}}, Live: read.Live{Reader: c}, Watch: asleep{}, Rights: s.rights()}
			return step(t, &volumecapture.Machine, r, o.Observe)
		}},
		"VolumeRestoreRequest": {unfinished(volumerestore.Machine.Rules), func(t *testing.T, phase fsm.Phase, s scenery) attempt {
			r := &capturev1.VolumeRestoreRequest{ObjectMeta: made, Spec: capturev1.VolumeRestoreRequestSpec{Requester: master, DeadlineSeconds: 86400}}
			r.Spec.Source.VolumeSnapshotContent, r.Spec.VolumeClaimTemplate.Name = &capturev1.NameRef{Name: "theirs"}, "data"
			r.Status.Phase, r.Status.Source = phase, &capturev1.ResolvedSource{Driver: disks, SnapshotHandle: "theirs"}
			c := serving(t, append(s.objects, r)...)
			o := VolumeRestore{Keeping: Keeping{Cached: c, Live: read.Live{Reader: c}}, Live: read.Live{Reader: c}, Rights: s.rights()}
			return step(t, &volumerestore.Machine, r, o.Observe)
		}},
		"ManifestCaptureRequest": {unfinished(manifestcapture.Machine.Rules), func(t *testing.T, phase fsm.Phase, s scenery) attempt {
			r := &capturev1.ManifestCaptureRequest{ObjectMeta: made, Spec: capturev1.ManifestCaptureRequestSpec{Requester: master, DeadlineSeconds: 86400}}
			r.Status.Phase, r.Status.ResourceVersion = phase, "7"
			c := serving(t, append(s.objects, r)...)
			o := ManifestCapture{
				Keeping: Keeping{Cached: c, Live: read.Live{Reader: c}}, Live: read.Live{Reader: c}, Rights: s.rights(),
				Work: idle[manifestcapture.Result]{},
			}
			return step(t, &manifestcapture.Machine, r, o.Observe)
		}},
		"ManifestRestoreRequest": {unfinished(manifestrestore.Machine.Rules), func(t *testing.T, phase fsm.Phase, s scenery) attempt {
			r := &capturev1.ManifestRestoreRequest{ObjectMeta: made, Spec: capturev1.ManifestRestoreRequestSpec{Requester: master, DeadlineSeconds: 86400}}
			r.Spec.Source.Checkpoint = &capturev1.NameRef{Name: "theirs"}
			r.Status.Phase, r.Status.CheckpointRef = phase, stolen
			c := serving(t, append(s.objects, r)...)
			o := ManifestRestore{
				Keeping: Keeping{Cached: c, Live: read.Live{Reader: c}}, Rights: s.rights(), Works: idle[*manifestrestore.Report]{}, System: "statecraft-system",
			}
			return step(t, &manifestrestore.Machine, r, o.Observe)
		}},
	}
}

// idle has no work.
type idle[R any] struct{}

func (idle[R]) Work(read.Key) read.Work[R] { return read.Work[R]{} }

// keeperOf is one that follows the request of a forger.
func keeperOf(kind string, at time.Time) *capturev1.ObjectKeeper {
	k := request.NewKeeper(&made, capturev1.GroupVersion.WithKind(kind), "n1", request.Terms{})
	k.UID, k.CreationTimestamp = "k1", metav1.NewTime(at)
	return k
}

// TestAForgedStatusCarriesNothingOut: whoever makes a request while there are no policies can write its status, too, in
// any phase, and whoever may make keepers can make the one of the request.
func TestAForgedStatusCarriesNothingOut(t *testing.T) {
	inForce := guard.Verdict{Since: installed.Time, Last: "A policy", Unbroken: installed.Time}
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "n1"}}
	for kind, m := range machinists() {
		for what, s := range map[string]scenery{
			"no keeper":                       {inForce, []client.Object{home}},
			"no keeper, and no policies yet":  {guard.Verdict{Gap: "a policy is missing"}, []client.Object{home}},
			"a keeper from before":            {inForce, []client.Object{home, keeperOf(kind, installed.Add(-time.Hour))}},
			"a keeper, while they were weak":  {guard.Verdict{Since: installed.Add(time.Hour), Unbroken: installed.Add(time.Hour)}, []client.Object{home, keeperOf(kind, installed.Add(time.Minute))}},
			"a keeper, while there are none":  {guard.Verdict{Gap: "a policy is missing"}, []client.Object{home, keeperOf(kind, installed.Time)}},
			"a keeper, before it is in force": {inForce, []client.Object{home, keeperOf(kind, installed.Add(time.Second))}},
		} {
			for _, phase := range m.phases {
				did := m.try(t, phase, s)
				known := s.verdict.Gap == "" && phase != "CleaningUp"
				if did.goesOn(phase) || len(did.acts) > 0 || known && !did.ends() {
					t.Errorf("%s in phase %q with %s: goes to %v, and does %v", kind, phase, what, did.moves, did.acts)
				}
			}
		}
	}
}

// TestACheckpointIsFoundByTheRequestAlone until the restore has begun: from then on the manager has written which it is.
func TestACheckpointIsFoundByTheRequestAlone(t *testing.T) {
	own := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: "own", UID: "c2"}}
	for phase, want := range map[fsm.Phase]string{"": "own", manifestrestore.Pending: "own", manifestrestore.Preparing: "own", manifestrestore.Planning: "said"} {
		r := &capturev1.ManifestRestoreRequest{ObjectMeta: made}
		r.Spec.Source.Checkpoint = &capturev1.NameRef{Name: "own"}
		r.Status.Phase, r.Status.CheckpointRef = phase, &capturev1.ArtifactRef{Name: "said", UID: "c1"}
		o := ManifestRestore{Keeping: Keeping{Live: read.Live{Reader: serving(t, own)}}}
		if got, err := o.source(t.Context(), r); err != nil || got.Checkpoint.Name != want {
			t.Errorf("in phase %q: %+v, %v", phase, got.Checkpoint, err)
		}
	}
}
