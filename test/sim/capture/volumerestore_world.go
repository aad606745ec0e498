package capture

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi/csifake"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

func (s *volumeRestoreStory) build(c *sim.Cell) {
	r := capture.NewVolumeRestore(c.Env(), capture.Defaults(), capture.VolumeRestoreParts{Rights: allRights(), As: func(namespace string) (client.Client, error) {
		return c.As("system:serviceaccount:" + namespace + ":" + act.Account)
	}})
	c.Cache(capture.Caches()...)
	c.Index(capture.Indexes()...)
	c.Add(sim.Controller{Reconciler: r, Kind: restoreRequestKind, Echo: r.Store.Wrote, Wakes: capture.VolumeRestoreWakes()})
	beside := capture.NewRestorer(c.Env(), callDriver{c, s.driver}, capture.RestorerConfig{Driver: s.storage.driver(), Namespace: harness.SystemNamespace})
	c.Add(sim.Controller{Reconciler: restores{s, beside}, Kind: restoreRequestKind, Woken: s.wakes})
	c.Wake(restoreRequestKind)(client.ObjectKeyFromObject(s.request)) // as its intent does
}

// restores lets the restorer be woken by the name of a request. It names one by more.
type restores struct {
	story  *volumeRestoreStory
	beside reconcile.Reconciler
}

// Reconcile implements reconcile.Reconciler.
func (r restores) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	for _, asked := range []*capturev1.VolumeRestoreRequest{r.story.request, r.story.second} {
		if asked.Name == req.Name && asked.UID != "" {
			key := capture.RestoreKey(asked.Namespace, asked.Name, asked.UID, asked.Spec.VolumeClaimTemplate.Name)
			return r.beside.Reconcile(ctx, reconcile.Request{NamespacedName: key})
		}
	}
	return reconcile.Result{}, nil
}

// callDriver takes every call of the driver across the boundary.
type callDriver struct {
	cell *sim.Cell
	fake *csifake.Driver
}

// Create implements csi.Driver.
func (d callDriver) Create(ctx context.Context, p restorer.Plan, secrets map[string]string) (made csi.Made, err error) {
	err = d.cell.Call(ctx, "CreateVolume", true, func(ctx context.Context) (func(), error) {
		answer, err := d.fake.Create(ctx, p, secrets)
		return func() { made = answer }, err
	})
	return made, err
}

// Delete implements csi.Driver.
func (d callDriver) Delete(ctx context.Context, id string, secrets map[string]string) error {
	return d.cell.Call(ctx, "DeleteVolume", true, func(ctx context.Context) (func(), error) { return nil, d.fake.Delete(ctx, id, secrets) })
}

// refuses is what the driver says instead of making a volume.
func (s *volumeRestoreStory) refuses(restorer.Plan) error {
	switch {
	case s.holds:
		return status.Error(codes.Aborted, "the volume is being made")
	case s.ends == capturev1.ReasonDriverError && !s.givenUp():
		return status.Error(codes.ResourceExhausted, "the disk is full")
	case s.ends == capturev1.ReasonDeadlineExceeded && !s.givenUp():
		return status.Error(codes.Unavailable, "the backend does not answer")
	}
	return nil
}

// givenUp is when a backend that did not answer, or was full, is well again: until then nobody
// can tell whether there is a volume, and its intent stays.
func (s *volumeRestoreStory) givenUp() bool {
	r := s.request.DeepCopy()
	return s.world.Find(r) && (r.Status.Phase == volumerestore.CleaningUp || r.Status.Phase == volumerestore.Failed)
}

// wakes is what wakes the restorer: the claim by its name, and the keeper.
func (s *volumeRestoreStory) wakes(change sim.Change) (keys []read.Key) {
	for _, r := range []*capturev1.VolumeRestoreRequest{s.request, s.second} {
		claim := change.GroupVersionKind == claimKind && change.Name == r.Spec.VolumeClaimTemplate.Name
		if claim || change.GroupVersionKind == keeperKind && r.UID != "" && strings.HasSuffix(change.Name, string(r.UID)) {
			keys = append(keys, client.ObjectKeyFromObject(r))
		}
	}
	return keys
}

// prepare makes the class, and a snapshot or a detached volume.
func (s *volumeRestoreStory) prepare(ctx context.Context) error {
	policy := corev1.PersistentVolumeReclaimDelete
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace}, Provisioner: s.storage.driver(), ReclaimPolicy: &policy}
	if err := s.world.Client.Create(ctx, class); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if s.moves {
		return s.detach(ctx)
	}
	handle := "origin"
	return s.world.Client.Create(ctx, &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: s.storage.driver(), DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
			Source:            snapshotv1.VolumeSnapshotContentSource{VolumeHandle: &handle},
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: s.world.Namespace, Name: "source", UID: "source"},
		},
	})
}

// detach makes a volume that a holder holds.
func (s *volumeRestoreStory) detach(ctx context.Context) (err error) {
	var claim *corev1.PersistentVolumeClaim
	if claim, s.volume, err = s.storage.provision(ctx, "detached"); err != nil {
		return err
	}
	holder := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: volumecapture.HolderName(claim.UID)}, Spec: claim.Spec,
	}
	if err := s.world.Client.Create(ctx, holder); err != nil {
		return err
	}
	s.volume.Labels = map[string]string{capturev1.DetachedByLabel: string(claim.UID)}
	s.volume.Spec.ClaimRef = restorer.ClaimRef(restorer.Ref{Namespace: holder.Namespace, Name: holder.Name, UID: holder.UID})
	return s.world.Client.Update(ctx, s.volume)
}

func (s *volumeRestoreStory) prepared() error {
	if s.moves {
		return nil
	}
	c := &snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: s.world.Namespace}}
	if !s.world.Find(c) || c.Status == nil || c.Status.SnapshotHandle == nil || *c.Status.SnapshotHandle != sourceHandle {
		return errors.New("there is no snapshot yet")
	}
	return nil
}

// meanwhile plays the cluster that binds claims, and the node that runs Jobs.
func (s *volumeRestoreStory) meanwhile(ctx context.Context) (changed bool, next time.Time, err error) {
	if changed, next, err = s.storage.act(ctx); err != nil || changed {
		return changed, next, err
	}
	for _, obj := range s.world.Shown(jobKind) {
		job := obj.(*batchv1.Job).DeepCopy()
		if len(job.Status.Conditions) > 0 || job.DeletionTimestamp != nil {
			continue
		}
		now := metav1.NewTime(s.world.Now().Truncate(time.Second))
		job.Status.StartTime, job.Status.CompletionTime = &now, &now
		for _, is := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: is, Status: corev1.ConditionTrue, LastTransitionTime: now})
		}
		if err := s.world.Client.Status().Update(ctx, job); err != nil {
			return true, next, fmt.Errorf("complete job: %w", err)
		}
		changed = true
	}
	return changed, next, nil
}
