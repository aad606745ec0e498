package observe

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/capture/guard"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// reviews answers every review alike, and notes what was asked and of whom.
type reviews struct {
	allows bool
	err    error
	gap    string
	asked  []string
	of     []*meta.Requester
}

func (r *reviews) rights() Rights {
	return Rights{
		May: func(_ context.Context, who *meta.Requester, what read.Right) (read.Access, error) {
			r.asked = append(r.asked, what.Verb+" "+what.Group+"/"+what.Resource+" "+what.Namespace+"/"+what.Name)
			r.of = append(r.of, who)
			return read.Access{Allowed: r.allows, Why: "ann may not"}, r.err
		},
		Gap: func(context.Context, *metav1.Time) (string, error) { return r.gap, nil },
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
		"nothing is needed":    {reviews{gap: "a policy is missing"}, nil, request.Rights{Sight: request.Granted}, nil},
		"allowed":              {reviews{allows: true}, need, request.Rights{Sight: request.Granted}, nil},
		"denied":               {reviews{}, need, request.Rights{Sight: request.Denied, Why: "A rehearsal runs a Job, and ann may not"}, nil},
		"a policy is missing":  {reviews{allows: true, gap: "a policy is missing"}, need, request.Rights{Sight: request.Unguarded, Why: "a policy is missing"}, nil},
		"the review failed":    {reviews{allows: true, err: broken}, need, request.Rights{}, broken},
		"no review, no policy": {reviews{gap: "a policy is missing", err: broken}, need, request.Rights{Sight: request.Unguarded, Why: "a policy is missing"}, nil},
	} {
		got, err := tc.reviews.rights().Now(t.Context(), &meta.Requester{Username: "ann"}, tc.needs)
		if got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestTheGuardReadsPolicies installs the policies that are shipped, and takes one away.
func TestTheGuardReadsPolicies(t *testing.T) {
	files, err := config.AdmissionPolicies("capture")
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := guard.Parse(files, "statecraft-system")
	if err != nil {
		t.Fatal(err)
	}
	installed := metav1.NewTime(time.Unix(1_700_000_000, 0))
	var objects []client.Object
	for i := range shipped.Policies {
		p := shipped.Policies[i].DeepCopy()
		p.CreationTimestamp = installed
		objects = append(objects, p)
	}
	for i := range shipped.Bindings {
		objects = append(objects, shipped.Bindings[i].DeepCopy())
	}
	early, late := metav1.NewTime(installed.Add(-time.Hour)), metav1.NewTime(installed.Add(time.Hour))
	for name, tc := range map[string]struct {
		objects []client.Object
		made    *metav1.Time
		want    bool
	}{
		"all are there":                    {objects, nil, false},
		"and the request is younger":       {objects, &late, false},
		"and the request is older":         {objects, &early, true},
		"one is missing":                   {objects[1:], nil, true},
		"and the request is younger still": {objects[1:], &late, true},
	} {
		gap, err := Guard{Live: read.Live{Reader: serving(t, tc.objects...)}, Shipped: shipped}.Gap(t.Context(), tc.made)
		if err != nil || (gap != "") != tc.want {
			t.Errorf("%s: %q, %v", name, gap, err)
		}
	}
}
