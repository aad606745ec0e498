package observe

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// reviews answers every review alike, and notes what was asked and of whom.
type reviews struct {
	allows  bool
	err     error
	verdict guard.Verdict
	looks   int
	asked   []string
	of      []*meta.Requester
}

func (r *reviews) rights() Rights {
	return Rights{
		Accepted: NewAccepted(),
		May: func(_ context.Context, who *meta.Requester, what read.Right) (read.Access, error) {
			r.asked = append(r.asked, what.Verb+" "+what.Group+"/"+what.Resource+" "+what.Namespace+"/"+what.Name)
			r.of = append(r.of, who)
			return read.Access{Allowed: r.allows, Why: "ann may not"}, r.err
		},
		Look: func(context.Context) (guard.Verdict, error) {
			r.looks++
			return r.verdict, nil
		},
	}
}

func detach(r *capturev1.VolumeCaptureRequest) { r.Spec.Mode = capturev1.Detach }

// TestWhichRightsAreNeeded: what admission asks for, the manager asks for as well.
func TestWhichRightsAreNeeded(t *testing.T) {
	vcr := func(change func(*capturev1.VolumeCaptureRequest)) []request.Need {
		r := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
		r.Spec.Target.Name = "data"
		change(r)
		return volumecapture.Needs(r)
	}
	vrr := func(from capturev1.VolumeSource, rehearsal *capturev1.Rehearsal) []request.Need {
		r := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
		r.Spec.Source, r.Spec.Rehearsal = from, rehearsal
		return volumerestore.Needs(r)
	}
	mcr := func(secrets bool) []request.Need {
		r := &capturev1.ManifestCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
		r.Spec.IncludeSecrets = secrets
		return manifestcapture.Needs(r)
	}
	mrr := func(from capturev1.ManifestSource) []request.Need {
		r := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
		r.Spec.Source = from
		return manifestrestore.Needs(r)
	}
	own, theirs, raw := &capturev1.RequestRef{Name: "a", Namespace: "shop"}, &capturev1.RequestRef{Name: "a", Namespace: "other"}, &capturev1.NameRef{Name: "c"}
	const ours = "capture.statecraft.dev/"
	for name, tc := range map[string]struct {
		needs []request.Need
		want  []string
	}{
		"a snapshot":                   {vcr(func(*capturev1.VolumeCaptureRequest) {}), nil},
		"a detached volume":            {vcr(detach), []string{"delete /persistentvolumeclaims shop/data"}},
		"a volume of one's own":        {vrr(capturev1.VolumeSource{VolumeCaptureRequest: &capturev1.RequestRef{Name: "a"}}, nil), nil},
		"a volume that names its own":  {vrr(capturev1.VolumeSource{VolumeCaptureRequest: own}, nil), nil},
		"a volume from elsewhere":      {vrr(capturev1.VolumeSource{VolumeCaptureRequest: theirs}, nil), []string{"restore " + ours + "volumecapturerequests other/a"}},
		"a content":                    {vrr(capturev1.VolumeSource{VolumeSnapshotContent: raw}, nil), []string{"restore snapshot.storage.k8s.io/volumesnapshotcontents /c"}},
		"a volume by its name":         {vrr(capturev1.VolumeSource{PersistentVolume: raw}, nil), []string{"restore /persistentvolumes /c"}},
		"a rehearsal":                  {vrr(capturev1.VolumeSource{VolumeCaptureRequest: own}, &capturev1.Rehearsal{}), []string{"create batch/jobs shop/"}},
		"manifests":                    {mcr(false), nil},
		"Secrets":                      {mcr(true), []string{"get /secrets shop/"}},
		"manifests of one's own":       {mrr(capturev1.ManifestSource{ManifestCaptureRequest: own}), nil},
		"manifests from elsewhere":     {mrr(capturev1.ManifestSource{ManifestCaptureRequest: theirs}), []string{"restore " + ours + "manifestcapturerequests other/a"}},
		"a checkpoint":                 {mrr(capturev1.ManifestSource{Checkpoint: raw}), []string{"restore " + ours + "manifestcheckpoints /c"}},
		"a rehearsal of somebody else": {vrr(capturev1.VolumeSource{VolumeSnapshotContent: raw}, &capturev1.Rehearsal{}), []string{"restore snapshot.storage.k8s.io/volumesnapshotcontents /c", "create batch/jobs shop/"}},
	} {
		by, r := &meta.Requester{Username: "ann", UID: "1", Groups: []string{"shop"}}, &reviews{allows: true}
		got, err := r.rights().Now(t.Context(), by, tc.needs)
		if err != nil || got.Sight != request.Granted {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if diff := cmp.Diff(tc.want, r.asked); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, who := range r.of {
			if who != by {
				t.Errorf("%s: asks of %+v", name, who)
			}
		}
	}
}

func TestWhatReviewsCameTo(t *testing.T) {
	need := []request.Need{{What: "A rehearsal runs a Job", Right: read.Right{Verb: "create", Resource: "jobs"}}}
	broken := errors.New("no review today")
	for name, tc := range map[string]struct {
		reviews reviews
		needs   []request.Need
		want    request.Rights
		err     error
	}{
		"nothing is needed":    {reviews{verdict: guard.Verdict{Gap: "a policy is missing"}}, nil, request.Rights{Sight: request.Granted}, nil},
		"allowed":              {reviews{allows: true}, need, request.Rights{Sight: request.Granted}, nil},
		"denied":               {reviews{}, need, request.Rights{Sight: request.Denied, Why: "A rehearsal runs a Job, and ann may not"}, nil},
		"a policy is missing":  {reviews{allows: true, verdict: guard.Verdict{Gap: "a policy is missing"}}, need, request.Rights{Sight: request.Unguarded, Why: "a policy is missing"}, nil},
		"the review failed":    {reviews{allows: true, err: broken}, need, request.Rights{}, broken},
		"no review, no policy": {reviews{verdict: guard.Verdict{Gap: "a policy is missing"}, err: broken}, need, request.Rights{Sight: request.Unguarded, Why: "a policy is missing"}, nil},
	} {
		got, err := tc.reviews.rights().Now(t.Context(), &meta.Requester{Username: "ann"}, tc.needs)
		if got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestWhatNoPolicyHasLookedAtIsNotAccepted: also if it needs no right. One that was accepted goes on, as long as its
// keeper is known to be the manager's.
func TestWhatNoPolicyHasLookedAtIsNotAccepted(t *testing.T) {
	late, early := metav1.NewTime(installed.Add(time.Hour)), metav1.NewTime(installed.Add(-time.Hour))
	inForce := guard.Verdict{Since: installed.Time, Last: "A policy", Unbroken: installed.Time}
	missing := guard.Verdict{Gap: "a policy is missing"}
	upgraded := guard.Verdict{Since: installed.Add(2 * time.Hour), Last: "A policy", Unbroken: installed.Time}
	kept := func(made metav1.Time) request.Keeping {
		return request.Keeping{Sight: presence.Here, UID: "k1", Made: made}
	}
	for name, tc := range map[string]struct {
		verdict guard.Verdict
		made    metav1.Time
		keeping request.Keeping
		known   bool
		want    request.RightsSight
	}{
		"with policies in force":                         {inForce, late, request.Keeping{Sight: presence.Gone}, false, request.Granted},
		"before they are in force":                       {inForce, early, request.Keeping{Sight: presence.Gone}, false, request.Early},
		"before, and another has the name of its keeper": {inForce, early, request.Keeping{Sight: presence.Other, UID: "k2", Made: late}, false, request.Early},
		"before, and its keeper was not looked for":      {inForce, early, request.Keeping{}, false, request.Early},
		"before, and its keeper was made before, too":    {inForce, early, kept(early), false, request.Early},
		"before, and it was accepted since":              {inForce, early, kept(late), false, request.Granted},
		"while a policy is missing":                      {missing, late, request.Keeping{Sight: presence.Gone}, false, request.Unguarded},
		"accepted, and a policy is missing":              {missing, late, kept(late), true, request.Granted},
		"perhaps accepted, and a policy is missing":      {missing, late, kept(late), false, request.Unproven},
		"accepted before an upgrade":                     {upgraded, late, kept(late), false, request.Granted},
		"not accepted before an upgrade":                 {upgraded, late, request.Keeping{Sight: presence.Gone}, false, request.Early},
	} {
		r := reviews{verdict: tc.verdict}
		rights := r.rights()
		if tc.known {
			rights.Accepted.add(tc.keeping.UID)
		}
		got, err := rights.Ask(t.Context(), Question{By: &meta.Requester{Username: "ann"}, Made: tc.made, Keeping: tc.keeping})
		if err != nil || got.Sight != tc.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestAKeeperIsProvenOnce: what was made while the policies were in force was, whatever becomes of them.
func TestAKeeperIsProvenOnce(t *testing.T) {
	r := reviews{verdict: guard.Verdict{Since: installed.Time, Unbroken: installed.Time}}
	rights := r.rights()
	q := Question{Made: installed, Keeping: request.Keeping{Sight: presence.Here, UID: "k1", Made: metav1.NewTime(installed.Add(time.Hour))}}
	for range 2 {
		if got, err := rights.Ask(t.Context(), q); err != nil || got.Sight != request.Granted {
			t.Fatalf("%+v, %v", got, err)
		}
		r.verdict = guard.Verdict{Gap: "a policy is missing"}
	}
	if r.looks != 1 {
		t.Errorf("the policies were looked at %d times", r.looks)
	}
	q.Keeping.UID = "k2"
	if got, err := rights.Ask(t.Context(), q); err != nil || got.Sight != request.Unproven {
		t.Errorf("another keeper: %+v, %v", got, err)
	}
}

// installed is when the policies of a test were.
var installed = metav1.NewTime(time.Unix(1_700_000_000, 0))
