package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/job"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/podstate/diagnosis"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// VolumeRestore observes what a restore of a volume needs.
type VolumeRestore struct {
	Keeping Keeping
	Live    read.Live
	// Namespace is where the holders of detached volumes are.
	Namespace string
	Rights    Rights
}

// Observe looks at the claim in every phase, and at the rest where it is needed: at what is
// restored until the status says what that is, at the Job of a rehearsal once it may be there.
func (o VolumeRestore) Observe(ctx context.Context, r *capturev1.VolumeRestoreRequest) (w volumerestore.World, err error) {
	phase := r.Status.Phase
	if phase == volumerestore.Succeeded || phase == volumerestore.Failed {
		return w, nil
	}
	if w.Claim, err = o.claim(ctx, r); err != nil {
		return w, err
	}
	for _, look := range looks {
		if err == nil && slices.Contains(look.in, phase) {
			err = look.at(o, ctx, r, &w)
		}
	}
	return w, err
}

// looks are what is looked at besides the claim, and where.
var looks = []struct {
	in []fsm.Phase
	at func(VolumeRestore, context.Context, *capturev1.VolumeRestoreRequest, *volumerestore.World) error
}{
	{[]fsm.Phase{"", volumerestore.Pending, volumerestore.Preparing, volumerestore.Restoring, volumerestore.Rehearsing}, VolumeRestore.lookForKeeper},
	{[]fsm.Phase{"", volumerestore.Pending, volumerestore.Preparing, volumerestore.Restoring}, VolumeRestore.lookForSource},
	{[]fsm.Phase{volumerestore.Rehearsing, volumerestore.CleaningUp}, VolumeRestore.lookForProbe},
	{[]fsm.Phase{"", volumerestore.Pending, volumerestore.Preparing, volumerestore.Restoring, volumerestore.Rehearsing}, VolumeRestore.lookForRights},
}

func (o VolumeRestore) lookForKeeper(ctx context.Context, r *capturev1.VolumeRestoreRequest, w *volumerestore.World) (err error) {
	w.Keeping, err = o.Keeping.Look(ctx, r)
	return err
}

func (o VolumeRestore) lookForSource(ctx context.Context, r *capturev1.VolumeRestoreRequest, w *volumerestore.World) (err error) {
	if r.Status.Source == nil || volumerestore.Checks(r.Status.Phase) {
		w.Source, err = o.source(ctx, r)
	}
	return err
}

// lookForRights asks while something is left to be done that needs them, and until the end whether the request was
// accepted.
func (o VolumeRestore) lookForRights(ctx context.Context, r *capturev1.VolumeRestoreRequest, w *volumerestore.World) (err error) {
	q := Question{By: r.Spec.Requester, Needs: volumerestore.Needs(r), Made: r.CreationTimestamp, Keeping: w.Keeping}
	restored := r.Status.Phase == volumerestore.Restoring && w.Claim.Volume != ""
	probed := r.Status.Phase == volumerestore.Rehearsing && w.Probe.Sight != volumerestore.NoProbe
	if restored || probed {
		q.Needs = nil
	}
	w.Rights, err = o.Rights.Ask(ctx, q)
	return err
}

func (o VolumeRestore) lookForProbe(ctx context.Context, r *capturev1.VolumeRestoreRequest, w *volumerestore.World) (err error) {
	if r.Spec.Rehearsal != nil {
		w.Probe, err = o.probe(ctx, r, w.Keeping.UID)
	}
	return err
}

// claim is read live: nothing but names of claims is cached, and each sight may be a verdict.
func (o VolumeRestore) claim(ctx context.Context, r *capturev1.VolumeRestoreRequest) (volumerestore.Claim, error) {
	var c corev1.PersistentVolumeClaim
	key := read.Key{Namespace: r.Namespace, Name: r.Spec.VolumeClaimTemplate.Name}
	switch is, err := read.Find(ctx, o.Live, key, &c, func(c *corev1.PersistentVolumeClaim) bool { return restorer.IsOurs(c, r) }); {
	case err != nil:
		return volumerestore.Claim{}, err
	case is != presence.Here:
		return volumerestore.Claim{Sight: is}, nil
	}
	seen := claimOf(&c)
	bound := c.Status.Phase == corev1.ClaimBound
	restored, err := o.restored(ctx, &c, r)
	switch {
	case bound && restored:
		seen.Volume = volumerestore.TheRestored
	case bound:
		seen.Volume = volumerestore.Another
	case restored:
		seen.Volume = volumerestore.Awaiting
	}
	return seen, err
}

func claimOf(c *corev1.PersistentVolumeClaim) volumerestore.Claim {
	seen := volumerestore.Claim{
		Sight: presence.Here, UID: c.UID, ResourceVersion: c.ResourceVersion, Deleting: c.DeletionTimestamp != nil,
		Reserved: reserved(c),
	}
	for _, told := range c.Status.Conditions {
		if told.Type == capturev1.RestoreCondition && told.Status == corev1.ConditionFalse {
			seen.Trouble, seen.Words = fsm.Reason(told.Reason), told.Message
		}
	}
	return seen
}

// reserved says that a claim was made for a restore of manifests, which writes what uses it as
// soon as it is there: that waits, and would be given an empty one under the name.
func reserved(c metav1.Object) bool { return c.GetAnnotations()[manifestrestore.MarkAnnotation] != "" }

// restored says that the volume of a claim is the one that was made, or moved, for the request. A claim that waits for
// a pod names none until it is bound.
func (o VolumeRestore) restored(ctx context.Context, c *corev1.PersistentVolumeClaim, r metav1.Object) (bool, error) {
	var v corev1.PersistentVolume
	name := cmp.Or(c.Spec.VolumeName, restorer.VolumeName(r.GetUID()))
	switch err := o.Live.Get(ctx, read.Key{Name: name}, &v); {
	case read.SaysGone(err, name):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read volume %s: %w", name, err)
	}
	return v.Annotations[capturev1.RestoreAnnotation] == string(r.GetUID()) && v.Spec.ClaimRef != nil && v.Spec.ClaimRef.UID == c.UID, nil
}

// probe reads the Job live: nobody watches Jobs for the few that rehearsals make. It is ours if the keeper owns it, and
// while nobody looks at the keeper if it says so.
func (o VolumeRestore) probe(ctx context.Context, r *capturev1.VolumeRestoreRequest, keeper types.UID) (volumerestore.Probe, error) {
	key := read.Key{Namespace: r.Namespace, Name: volumerestore.ProbeName(r.UID)}
	made := &batchv1.Job{}
	sight, err := read.Find(ctx, o.Live, key, made, func(j *batchv1.Job) bool {
		by := metav1.GetControllerOf(j)
		return by != nil && by.Kind == "ObjectKeeper" && by.Name == request.KeeperName(r.UID) && (keeper == "" || by.UID == keeper)
	})
	switch {
	case err != nil:
		return volumerestore.Probe{}, err
	case sight == presence.Gone:
		return volumerestore.Probe{Sight: volumerestore.NoProbe}, nil
	case sight == presence.Other:
		return volumerestore.Probe{Sight: volumerestore.ProbeTaken}, nil
	}
	seen := volumerestore.Probe{
		Sight: volumerestore.ProbeRuns, UID: made.UID, ResourceVersion: made.ResourceVersion, Deleting: made.DeletionTimestamp != nil,
	}
	switch is := job.Judge(made, nil); is.State {
	case job.Succeeded:
		seen.Sight = volumerestore.ProbePassed
	case job.Failed:
		seen.Sight, seen.Words = volumerestore.ProbeFailed, is.Reason
	default:
		seen.Words = o.whyNotRunning(ctx, made)
	}
	return seen, nil
}

// whyNotRunning tells why a pod of a Job does not run. Nothing is decided by it, so what cannot be read is left out.
func (o VolumeRestore) whyNotRunning(ctx context.Context, made *batchv1.Job) string {
	pods, err := o.Live.PodsOf(ctx, made)
	if err != nil {
		return ""
	}
	for i := range pods {
		if words := diagnosis.Words(&pods[i]); words != "" && pods[i].DeletionTimestamp == nil {
			return words
		}
	}
	return ""
}
