package act

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// denies says no to whoever needs anything.
func denies(_ context.Context, _ *meta.Requester, needs []request.Need) (request.Rights, error) {
	if len(needs) == 0 {
		return request.Rights{Sight: request.Granted}, nil
	}
	return request.Rights{Sight: request.Denied, Why: needs[0].What + ", and ann may not"}, nil
}

// TestAJobAsksForRightsBeforeItReads: the request was accepted, and the right was taken away since.
func TestAJobAsksForRightsBeforeItReads(t *testing.T) {
	theirs := capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Name: "nightly", Namespace: "other"}}
	own := capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Name: "nightly"}}
	secret := &capturev1.ManifestCheckpointSpec{Encryption: &capturev1.Encryption{}}
	plain := &capturev1.ManifestCheckpointSpec{}
	for what, c := range map[string]struct {
		stage manifestrestore.Stage
		from  capturev1.ManifestSource
		point *capturev1.ManifestCheckpointSpec
		stops bool
	}{
		"plans another's":              {manifestrestore.Plan, theirs, plain, true},
		"writes another's":             {manifestrestore.Apply, theirs, plain, true},
		"looks at what it has written": {manifestrestore.Look, theirs, secret, false},
		"writes its own":               {manifestrestore.Apply, own, plain, false},
		"plans its own Secrets":        {manifestrestore.Plan, own, secret, true},
		"writes its own Secrets":       {manifestrestore.Apply, own, secret, true},
		"looks at the Secrets it has":  {manifestrestore.Look, own, secret, false},
	} {
		r := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}
		r.Spec.Source = c.from
		j := &restoreJob{ManifestRestore: &ManifestRestore{Rights: denies}, request: r, stage: c.stage}
		err := errors.Join(j.permitted(t.Context()), j.secrets(t.Context(), c.point))
		verdict := (*refused)(nil)
		if stops := errors.As(err, &verdict); stops != c.stops || stops && verdict.reason != capturev1.ReasonForbidden {
			t.Errorf("a job that %s: %v", what, err)
		}
	}
}

// TestACaptureAsksForRightsBeforeItWrites: captures wait for their turn, and rights go meanwhile.
func TestACaptureAsksForRightsBeforeItWrites(t *testing.T) {
	for _, secrets := range []bool{false, true} {
		r := someRequest.DeepCopy()
		r.Spec.IncludeSecrets = secrets
		r.Status.Phase, r.Status.ResourceVersion = manifestcapture.Writing, "100"
		a := ManifestCapture{Live: read.Live{Reader: serving(t, r)}, Rights: denies}
		err := a.stillWrites(t.Context(), r, "100")
		verdict := (*manifest.Refusal)(nil)
		if stops := errors.As(err, &verdict); stops != secrets || stops && verdict.Reason != capturev1.ReasonForbidden {
			t.Errorf("with Secrets %v: %v", secrets, err)
		}
	}
}
