package act

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// shows answers every read with one request.
type shows struct {
	client.Reader
	is *capturev1.ManifestRestoreRequest
}

func (s shows) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	s.is.DeepCopyInto(obj.(*capturev1.ManifestRestoreRequest))
	return nil
}

// TestNothingIsWrittenForARequestThatWentOn: the cache still shows Applying.
func TestNothingIsWrittenForARequestThatWentOn(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*capturev1.ManifestRestoreRequest)
		goes   bool
	}{
		"it is as the cache says": {change: func(*capturev1.ManifestRestoreRequest) {}, goes: true},
		"it has ended":            {change: func(r *capturev1.ManifestRestoreRequest) { r.Status.Phase = manifestrestore.Succeeded }},
		"its status was lost":     {change: func(r *capturev1.ManifestRestoreRequest) { r.Status.Phase = "" }},
		"it was made anew":        {change: func(r *capturev1.ManifestRestoreRequest) { r.UID = "r2" }},
		"it is being deleted":     {change: func(r *capturev1.ManifestRestoreRequest) { r.DeletionTimestamp = &metav1.Time{} }},
	} {
		cached := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1"}}
		cached.Status.Phase = manifestrestore.Applying
		is := cached.DeepCopy()
		c.change(is)
		j := &restoreJob{ManifestRestore: &ManifestRestore{Live: read.Live{Reader: shows{is: is}}}, request: cached, stage: manifestrestore.Apply}
		err := j.confirm(t.Context())
		if c.goes != (err == nil) || err != nil && fsm.ClassOf(err) != fsm.Changed {
			t.Errorf("%s: %v", what, err)
		}
	}
}
