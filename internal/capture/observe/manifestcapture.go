package observe

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// ManifestCapture observes what a ManifestCaptureRequest needs.
type ManifestCapture struct {
	Keeping Keeping
	Live    read.Live
	Work    read.Works[manifestcapture.Result]
	KeysIn  string // the namespace of the Secret with the keys
	Rights  Rights
	Limits  request.Limits
	Budget  manifestcapture.Budget
}

// Observe looks at what the phase asks for, and at nothing else: most of it is read live.
// What work came to is looked at first: what it made is seen afterwards.
func (o ManifestCapture) Observe(ctx context.Context, r *capturev1.ManifestCaptureRequest) (w manifestcapture.World, err error) {
	w.Work = o.work(r)
	if w.Keeping, err = o.Keeping.Look(ctx, r); err != nil {
		return w, err
	}
	if err = o.rights(ctx, r, &w); err != nil {
		return w, err
	}
	ours := w.Keeping.Sight == presence.Here
	switch r.Status.Phase {
	case "", manifestcapture.Pending:
		if ours { // the status was lost, or not saved
			err = o.checkpoint(ctx, r, &w)
		}
	case manifestcapture.Preparing:
		if ours {
			err = o.prepare(ctx, r, &w)
		}
	case manifestcapture.Reading:
		err = o.moment(ctx, r, &w)
	case manifestcapture.Writing:
		if err = o.checkpoint(ctx, r, &w); err == nil {
			err = o.moment(ctx, r, &w)
		}
	case manifestcapture.Verifying:
		err = o.checkpoint(ctx, r, &w)
	case manifestcapture.CleaningUp:
		err = o.leftovers(ctx, r, &w)
	}
	return w, err
}

// rights asks what the requester may do, until reading begins, and until the end whether the request was accepted.
func (o ManifestCapture) rights(ctx context.Context, r *capturev1.ManifestCaptureRequest, w *manifestcapture.World) (err error) {
	q := Question{By: r.Spec.Requester, Made: r.CreationTimestamp, Keeping: w.Keeping}
	switch r.Status.Phase {
	case manifestcapture.CleaningUp, manifestcapture.Succeeded, manifestcapture.Failed:
		return nil
	case "", manifestcapture.Pending:
		if w.Limits, err = o.Keeping.limits(ctx, o.Limits, "ManifestCaptureRequest", w.Keeping); err != nil {
			return err
		}
		q.Needs = manifestcapture.Needs(r)
	case manifestcapture.Preparing:
		q.Needs = manifestcapture.Needs(r)
	}
	w.Rights, err = o.Rights.Ask(ctx, q)
	return err
}

// work is what the work of the phase has come to. Work of another moment, or for another
// request of that name, is none; in a phase that has no work, any counts that goes on.
func (o ManifestCapture) work(r *capturev1.ManifestCaptureRequest) manifestcapture.Work {
	key := read.Key{Namespace: r.Namespace, Name: r.Name}
	work := o.Work.Work(key)
	for _, task := range []manifestcapture.Task{manifestcapture.TaskRead, manifestcapture.TaskWrite, manifestcapture.TaskVerify} {
		if work.State == read.WorkUnknown || work.For != manifestcapture.TaskOf(task, r.UID, r.Status.ResourceVersion) {
			continue
		}
		return judge(task, work)
	}
	if work.State == read.WorkRunning {
		return manifestcapture.Work{State: manifestcapture.Running}
	}
	return manifestcapture.Work{}
}

func judge(task manifestcapture.Task, work read.Work[manifestcapture.Result]) manifestcapture.Work {
	w := manifestcapture.Work{Task: task}
	verdict := (*manifest.Refusal)(nil)
	switch {
	case work.State == read.WorkRunning:
		w.State = manifestcapture.Running
	case errors.As(work.Err, &verdict):
		w.State, w.Verdict = manifestcapture.Ended, verdict
	case errors.Is(work.Err, manifestcapture.ErrExpired):
		w.State, w.Expired = manifestcapture.Ended, true
	case work.Err == nil:
		w.State, w.Found, w.Checked = manifestcapture.Ended, work.Result.Found, work.Result.Checked
	}
	return w
}

// prepare looks at all that must be there before anything is read.
func (o ManifestCapture) prepare(ctx context.Context, r *capturev1.ManifestCaptureRequest, w *manifestcapture.World) (err error) {
	w.Budget, w.Held = o.Budget, &manifestcapture.Held{}
	if o.Budget != (manifestcapture.Budget{}) {
		if w.Held.All, w.Held.Namespace, err = Held(ctx, o.Live, w.Keeping.Namespace); err != nil {
			return err
		}
	}
	w.Volumes = map[string]manifestcapture.Volume{}
	for _, v := range r.Spec.Volumes {
		if v.Empty {
			continue
		}
		if w.Volumes[v.Claim], err = o.volume(ctx, r.Namespace, v); err != nil {
			return err
		}
	}
	if r.Spec.IncludeSecrets {
		if w.Keys, err = o.keys(ctx); err != nil {
			return err
		}
	}
	w.Moment, err = o.now(ctx, r)
	return err
}

func (o ManifestCapture) volume(ctx context.Context, namespace string, v capturev1.ManifestVolume) (manifestcapture.Volume, error) {
	var vcr capturev1.VolumeCaptureRequest
	err := o.Live.Get(ctx, read.Key{Namespace: namespace, Name: v.VolumeCaptureRequest}, &vcr)
	ready := apimeta.FindStatusCondition(vcr.Status.Conditions, fsm.Ready)
	switch {
	case read.SaysGone(err, v.VolumeCaptureRequest):
		return manifestcapture.VolumeMissing, nil
	case err != nil:
		return "", fmt.Errorf("read VolumeCaptureRequest %s: %w", v.VolumeCaptureRequest, err)
	case vcr.Spec.Target.Name != v.Claim:
		return manifestcapture.VolumeOther, nil
	case ready == nil:
		return manifestcapture.VolumePending, nil
	case ready.Status == metav1.ConditionTrue:
		return manifestcapture.VolumeReady, nil
	}
	return manifestcapture.VolumeFailed, nil
}

func (o ManifestCapture) keys(ctx context.Context) (manifestcapture.KeySight, error) {
	var secret corev1.Secret
	err := o.Live.Get(ctx, read.Key{Namespace: o.KeysIn, Name: checkpoint.KeysSecret}, &secret)
	if read.SaysGone(err, checkpoint.KeysSecret) {
		return manifestcapture.KeysMissing, nil
	} else if err != nil {
		return "", fmt.Errorf("read keys: %w", err)
	}
	if _, invalid := checkpoint.ParseRing(secret.Data); invalid == nil {
		return manifestcapture.KeysUsable, nil
	}
	return manifestcapture.KeysInvalid, nil
}

// moment looks for another one if that of the request is no longer known.
func (o ManifestCapture) moment(ctx context.Context, r *capturev1.ManifestCaptureRequest, w *manifestcapture.World) (err error) {
	if w.Work.Expired || r.Status.ResourceVersion == "" {
		w.Moment, err = o.now(ctx, r)
	}
	return err
}

// now is the resourceVersion of this moment. All kinds count in one row, so the list of any
// kind tells it.
func (o ManifestCapture) now(ctx context.Context, r *capturev1.ManifestCaptureRequest) (string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(capturev1.GroupVersion.WithKind("ManifestCaptureRequestList"))
	if err := o.Live.List(ctx, list, read.InNamespace(r.Namespace)); err != nil {
		return "", fmt.Errorf("read the moment: %w", err)
	}
	return list.ResourceVersion, nil
}
