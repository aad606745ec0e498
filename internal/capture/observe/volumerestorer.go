package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Restorer observes what the process beside a CSI driver needs. It reads all of it live: it
// spends storage, and deletes it.
type Restorer struct {
	Live      read.Live
	Driver    string
	Namespace string // of intents
	Metadata  bool   // the driver is told the names of claim and volume
	FSType    string // for classes that name none
}

// scene is what was read so far.
type scene struct {
	request *capturev1.VolumeRestoreRequest // nil if it is gone, or another has its name
	claim   *corev1.PersistentVolumeClaim   // nil if it is not ours
	class   *storagev1.StorageClass
}

// moved is the detached volume that the request is to get, if any.
func (s scene) moved() *capturev1.DetachedSource {
	if s.request == nil || s.request.Status.Source == nil {
		return nil
	}
	return s.request.Status.Source.Volume
}

// Observe reads intent, request, claim and volume, in that order: an intent tells what claim
// it is for even when the request is gone.
func (o Restorer) Observe(ctx context.Context, r *restorer.Restore) (w restorer.World, err error) {
	var s scene
	if w.Intent, err = o.intent(ctx, r.UID); err != nil {
		return w, err
	}
	if i := w.Intent.Intent; i != nil && !i.For(r, o.Driver) {
		return restorer.World{}, nil // nothing is known, so nothing is done
	}
	if s.request, err = o.request(ctx, r); err != nil {
		return w, err
	}
	if w.Request, w.Keeper, err = o.state(ctx, s.request); err != nil {
		return w, err
	}
	w.Moves = s.moved() != nil
	if w.Claim, err = o.claim(ctx, r, &s, w.Intent.Intent); err != nil {
		return w, err
	}
	if w.PV, err = o.volume(ctx, r, s, w.Intent.Intent); err != nil {
		return w, err
	}
	if w.Request != restorer.Wanted || w.Intent.Sight == presence.Here || w.Claim.Sight == presence.Other || w.PV.Sight == restorer.ForUs {
		return w, nil
	}
	return w, o.prepare(ctx, &w, s)
}

func (o Restorer) intent(ctx context.Context, uid types.UID) (restorer.Stored, error) {
	var cm corev1.ConfigMap
	key := read.Key{Namespace: o.Namespace, Name: restorer.VolumeName(uid)}
	switch is, err := read.Find(ctx, o.Live, key, &cm, nil); {
	case err != nil:
		return restorer.Stored{}, err
	case is == presence.Gone:
		return restorer.Stored{Sight: is}, nil
	}
	i, err := restorer.ParseIntent(&cm)
	return restorer.Stored{Sight: presence.Here, UID: cm.UID, ResourceVersion: cm.ResourceVersion, Intent: &i}, err
}

// request is the request of that UID; nil if it is gone.
func (o Restorer) request(ctx context.Context, r *restorer.Restore) (*capturev1.VolumeRestoreRequest, error) {
	found := &capturev1.VolumeRestoreRequest{}
	key := read.Key{Namespace: r.Namespace, Name: r.Name}
	is, err := read.Find(ctx, o.Live, key, found, func(f *capturev1.VolumeRestoreRequest) bool { return f.UID == r.UID })
	if err != nil || is != presence.Here {
		return nil, err
	}
	return found, nil
}

// state is what becomes of the request, as far as this driver is concerned. A status proves nothing: where the policies
// are missing, its writer may be anybody. That the manager has accepted the request, its keeper says.
func (o Restorer) state(ctx context.Context, r *capturev1.VolumeRestoreRequest) (restorer.Request, restorer.Keeper, error) {
	switch {
	case r == nil:
		return restorer.Gone, restorer.Keeper{}, nil
	case r.Status.Source != nil && r.Status.Source.Driver != o.Driver:
		return restorer.Elsewhere, restorer.Keeper{}, nil
	case r.Status.Phase == volumerestore.CleaningUp || r.Status.Phase == volumerestore.Failed:
		return restorer.GivenUp, restorer.Keeper{}, nil
	case r.Status.Phase != volumerestore.Restoring || r.Status.Source == nil:
		return restorer.Elsewhere, restorer.Keeper{}, nil
	}
	var k capturev1.ObjectKeeper
	follows := func(k *capturev1.ObjectKeeper) bool { return request.Follows(k, r.UID) }
	switch is, err := read.Find(ctx, o.Live, read.Key{Name: request.KeeperName(r.UID)}, &k, follows); {
	case err != nil:
		return "", restorer.Keeper{}, err
	case is != presence.Here:
		return restorer.Elsewhere, restorer.Keeper{}, nil
	}
	return restorer.Wanted, restorer.Keeper{Needed: r.Spec.Rehearsal != nil, UID: k.UID}, nil
}

// claim reads the claim that the request asks for. Without a request the intent knows its
// name; without that, there is nothing but a claim that names the request.
func (o Restorer) claim(ctx context.Context, r *restorer.Restore, s *scene, intent *restorer.Intent) (restorer.Claim, error) {
	name := r.Annotations[restorer.ClaimName]
	switch {
	case s.request != nil:
		name = s.request.Spec.VolumeClaimTemplate.Name
	case intent != nil:
		name = intent.Claim.Name
	}
	if name == "" {
		return restorer.Claim{Sight: presence.Gone}, nil
	}
	c := &corev1.PersistentVolumeClaim{}
	key := read.Key{Namespace: r.Namespace, Name: name}
	switch is, err := read.Find(ctx, o.Live, key, c, func(c *corev1.PersistentVolumeClaim) bool { return restorer.IsOurs(c, r) }); {
	case err != nil:
		return restorer.Claim{}, err
	case is != presence.Here:
		return restorer.Claim{Sight: is}, nil
	}
	s.claim = c
	seen := restorer.Claim{
		Sight: presence.Here, Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion,
		Bound: c.Status.Phase == corev1.ClaimBound, Deleting: c.DeletionTimestamp != nil, Reserved: reserved(c),
	}
	for _, told := range c.Status.Conditions {
		if told.Type == capturev1.RestoreCondition && told.Status == corev1.ConditionFalse {
			seen.Told = fsm.Reason(told.Reason)
		}
	}
	return seen, nil
}

// volume reads the PersistentVolume that is made or moved, and whose it is. While there is an intent that is the one
// which it intends, whatever the claim names: a claim can be made to name another.
func (o Restorer) volume(ctx context.Context, r *restorer.Restore, s scene, intent *restorer.Intent) (restorer.PV, error) {
	name := restorer.VolumeName(r.UID)
	switch moved := s.moved(); {
	case intent != nil:
	case moved != nil:
		name = moved.Name
	case s.claim != nil && s.claim.Spec.VolumeName != "":
		name = s.claim.Spec.VolumeName
	}
	var v corev1.PersistentVolume
	switch err := o.Live.Get(ctx, read.Key{Name: name}, &v); {
	case read.SaysGone(err, name):
		return restorer.PV{Sight: restorer.NoPV, Name: name}, nil
	case err != nil:
		return restorer.PV{}, fmt.Errorf("read volume %s: %w", name, err)
	}
	return s.whose(&v, r.UID), nil
}

// whose says to whom a PersistentVolume belongs.
func (s scene) whose(v *corev1.PersistentVolume, uid types.UID) restorer.PV {
	seen := restorer.PV{Sight: restorer.Strange, Name: v.Name, UID: v.UID, ResourceVersion: v.ResourceVersion, Holder: "no claim"}
	by, moved := v.Spec.ClaimRef, s.moved()
	if by == nil {
		return seen
	}
	seen.Holder = "PersistentVolumeClaim " + by.Namespace + "/" + by.Name
	mark := volumecapture.MarkOf(v).By
	seen.Parked = mark != "" && by.Name == volumecapture.HolderName(mark)
	switch {
	case s.claim != nil && by.UID == s.claim.UID && v.Annotations[capturev1.RestoreAnnotation] == string(uid):
		seen.Sight, seen.Marked = restorer.ForUs, v.Labels[capturev1.DetachedByLabel] != ""
	case reclaimed(v):
		seen.Holder = "no claim any more, and is being reclaimed"
	case moved != nil && by.UID == moved.HolderUID && v.UID == moved.UID:
		seen.Sight = restorer.Held
	}
	return seen
}
