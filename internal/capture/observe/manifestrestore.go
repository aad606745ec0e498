package observe

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// ManifestRestore observes a restore of manifests. It does not look at the objects that are
// restored: there may be thousands, which are for a job.
type ManifestRestore struct {
	Keeping
	Works  read.Works[*manifestrestore.Report]
	System string // the operator's own namespace
	Rights Rights
}

// Observe reads what the phase needs.
func (o ManifestRestore) Observe(ctx context.Context, r *capturev1.ManifestRestoreRequest) (manifestrestore.World, error) {
	keeping, err := o.Look(ctx, r)
	if err != nil {
		return manifestrestore.World{}, err
	}
	w := manifestrestore.World{Keeping: keeping, Work: o.work(r)}
	if w.Rights, err = o.rights(ctx, r, keeping); err != nil {
		return manifestrestore.World{}, err
	}
	if keeping.Sight != presence.Here {
		return w, nil
	}
	if w.Source, err = o.source(ctx, r); err != nil {
		return manifestrestore.World{}, err
	}
	if verifies(r.Status.Phase, w.Work) {
		w.Volumes, err = o.volumes(ctx, r, keeping.UID)
	}
	return w, err
}

// rights asks what the requester may do, until the source was found, and in every phase whether the request was accepted.
func (o ManifestRestore) rights(ctx context.Context, r *capturev1.ManifestRestoreRequest, k request.Keeping) (request.Rights, error) {
	q := Question{By: r.Spec.Requester, Made: r.CreationTimestamp, Keeping: k}
	switch r.Status.Phase {
	case manifestrestore.Succeeded, manifestrestore.Failed:
		return request.Rights{}, nil
	case "", manifestrestore.Pending, manifestrestore.Preparing:
		q.Needs = manifestrestore.Needs(r)
	}
	return o.Rights.Ask(ctx, q)
}

// verifies says that volumes are needed: in Verifying, and in the pass that gets there. They
// would be looked at a pass later otherwise, and the status be written once more to say so.
func verifies(phase fsm.Phase, w manifestrestore.Work) bool {
	return phase == manifestrestore.Verifying || phase == manifestrestore.Applying && w.Stage == manifestrestore.Apply && w.State == manifestrestore.Ended
}

// work is what is known of the job of this very request.
func (o ManifestRestore) work(r *capturev1.ManifestRestoreRequest) manifestrestore.Work {
	key := read.Key{Namespace: r.Namespace, Name: r.Name}
	work := o.Works.Work(key)
	stage, ours := manifestrestore.StageOf(work.For, r.UID)
	switch {
	case !ours:
		return manifestrestore.Work{}
	case work.State == read.WorkRunning:
		return manifestrestore.Work{Stage: stage, State: manifestrestore.Running}
	case work.State == read.WorkEnded && work.Err != nil:
		return manifestrestore.Work{Stage: stage, State: manifestrestore.Stopped}
	case work.State == read.WorkEnded:
		return manifestrestore.Work{Stage: stage, State: manifestrestore.Ended, Report: work.Result}
	}
	return manifestrestore.Work{}
}

// volumes lists the requests that restore volumes for this one. It reads live: one that was
// made a moment ago must not be missed.
func (o ManifestRestore) volumes(ctx context.Context, r *capturev1.ManifestRestoreRequest, keeper types.UID) (manifestrestore.Volumes, error) {
	var list capturev1.VolumeRestoreRequestList
	if err := o.Live.List(ctx, &list, read.InNamespace(r.Namespace)); err != nil {
		return manifestrestore.Volumes{}, fmt.Errorf("list volume restores: %w", err)
	}
	v := manifestrestore.Volumes{Listed: true}
	for i := range list.Items {
		one := &list.Items[i]
		if !child.OwnedBy(one, keeper) || ended(one.Status.Conditions) {
			continue
		}
		v.Unsettled = cmp.Or(v.Unsettled, one.Name)
		if r.Status.Phase != manifestrestore.Applying || v.Unmade != "" {
			continue
		}
		made, err := o.made(ctx, one)
		if err != nil {
			return manifestrestore.Volumes{}, err
		}
		if !made {
			v.Unmade = one.Name
		}
	}
	return v, nil
}

// made says that a request has made its claim.
func (o ManifestRestore) made(ctx context.Context, v *capturev1.VolumeRestoreRequest) (bool, error) {
	var claim corev1.PersistentVolumeClaim
	key := read.Key{Namespace: v.Namespace, Name: v.Spec.VolumeClaimTemplate.Name}
	switch err := o.Live.Get(ctx, key, &claim); {
	case read.SaysGone(err, key.Name):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read claim %s: %w", key.Name, err)
	}
	return manifestrestore.Made(&claim, v), nil
}

// ended says that a request has ended: only then it has the condition.
func ended(conditions []metav1.Condition) bool {
	for _, c := range conditions {
		if c.Type == fsm.Ready {
			return true
		}
	}
	return false
}
