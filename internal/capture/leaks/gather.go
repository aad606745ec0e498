package leaks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// page is how many objects are read at once.
const page = 250

// Gatherer takes the inventory.
type Gatherer struct {
	Live read.Live
	// Namespace is where the area keeps the holders of detached volumes.
	Namespace string
	// Intents says to look for intents of restores, which may be in any namespace.
	Intents bool
}

// gathering is an inventory on its way.
type gathering struct {
	Gatherer
	Inventory
}

// Look reads everything, live. A kind that the cluster does not have is one of which it has nothing.
func (g Gatherer) Look(ctx context.Context) (Inventory, error) {
	w := &gathering{Gatherer: g, Inventory: Inventory{Handles: map[Handle]bool{}}}
	looks := []func(context.Context) error{
		w.requests, w.keepers, w.contents, w.checkpoints, w.chunks, w.holders, w.volumes,
	}
	if g.Intents {
		looks = append(looks, w.intents)
	}
	var errs []error
	for _, look := range looks {
		if err := look(ctx); err != nil && !apimeta.IsNoMatchError(err) {
			errs = append(errs, err)
		}
	}
	return w.Inventory, errors.Join(errs...)
}

// each reads a list like empty page by page.
func (w *gathering) each(ctx context.Context, empty client.ObjectList, visit func(client.Object), opts ...client.ListOption) error {
	for next := ""; ; {
		list := empty.DeepCopyObject().(client.ObjectList) // a page that is read over another one would be a mixture
		if err := w.Live.List(ctx, list, append(opts, client.Limit(page), client.Continue(next))...); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
		err := apimeta.EachListItem(list, func(item runtime.Object) error {
			visit(item.(client.Object))
			return nil
		})
		if err != nil {
			return fmt.Errorf("read %T: %w", list, err)
		}
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}

func (w *gathering) keepers(ctx context.Context) error {
	return w.each(ctx, &capturev1.ObjectKeeperList{}, func(obj client.Object) {
		k := obj.(*capturev1.ObjectKeeper)
		found := Keeper{Name: k.Name, UID: k.UID, Created: k.CreationTimestamp.Time, Deleted: deleted(k), Expires: timeOf(k.Status.ExpiresAt)}
		if ref := k.Spec.FollowRef; ref != nil {
			found.Follows, found.Kind, found.Of = ref.UID, ref.Kind, Name{ref.Namespace, ref.Name}
		}
		w.Keepers = append(w.Keepers, found)
	})
}

func (w *gathering) contents(ctx context.Context) error {
	return w.each(ctx, &snapshotv1.VolumeSnapshotContentList{}, func(obj client.Object) {
		c := obj.(*snapshotv1.VolumeSnapshotContent)
		a := artifact(Content, c)
		if c.Status != nil && c.Status.SnapshotHandle != nil {
			a.Handle, a.Size = *c.Status.SnapshotHandle, sizeOf(c.Status.RestoreSize)
			w.Handles[Handle{c.Spec.Driver, true, a.Handle}] = true
		}
		if h := c.Spec.Source.SnapshotHandle; h != nil {
			w.Handles[Handle{c.Spec.Driver, true, *h}] = true
		}
		if a.Request != "" {
			w.Artifacts = append(w.Artifacts, a)
		}
	})
}

func (w *gathering) checkpoints(ctx context.Context) error {
	return w.each(ctx, &capturev1.ManifestCheckpointList{}, func(obj client.Object) {
		c := obj.(*capturev1.ManifestCheckpoint)
		a := artifact(Checkpoint, c)
		a.Request, a.Bytes = c.Spec.Origin.RequestUID, c.Spec.Bytes
		a.What, a.Size = manifests(c.Spec.Objects, c.Spec.Volumes), resource.NewQuantity(c.Spec.Bytes, resource.BinarySI)
		for _, chunk := range c.Spec.Chunks {
			a.Lists = append(a.Lists, chunk.Name)
		}
		w.Artifacts = append(w.Artifacts, a)
	})
}

// chunks reads names only: together they may hold more than fits into memory.
func (w *gathering) chunks(ctx context.Context) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(capturev1.GroupVersion.WithKind(string(Chunk) + "List"))
	return w.each(ctx, list, func(obj client.Object) {
		a := artifact(Chunk, obj)
		if a.Request == "" && len(a.Name) > uidLength {
			a.Request = types.UID(a.Name[:uidLength]) // with which every name begins
		}
		w.Artifacts = append(w.Artifacts, a)
	})
}

const uidLength = 36

func (w *gathering) holders(ctx context.Context) error {
	return w.each(ctx, &corev1.PersistentVolumeClaimList{}, func(obj client.Object) {
		uid, ours := strings.CutPrefix(obj.GetName(), holderPrefix)
		if !ours {
			return
		}
		a := artifact(Holder, obj)
		a.Request = types.UID(uid)
		w.Artifacts = append(w.Artifacts, a)
	}, client.InNamespace(w.Namespace))
}

func (w *gathering) volumes(ctx context.Context) error {
	return w.each(ctx, &corev1.PersistentVolumeList{}, func(obj client.Object) {
		v := obj.(*corev1.PersistentVolume)
		a := artifact(Volume, v)
		if v.Spec.CSI != nil {
			a.Handle = v.Spec.CSI.VolumeHandle
			w.Handles[Handle{v.Spec.CSI.Driver, false, a.Handle}] = true
		}
		if by := v.Labels[detachedBy]; by != "" {
			size := v.Spec.Capacity[corev1.ResourceStorage]
			a.Request, a.Bound, a.Size = types.UID(by), v.Status.Phase == corev1.VolumeBound, &size
			w.Artifacts = append(w.Artifacts, a)
		}
	})
}

func (w *gathering) intents(ctx context.Context) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	return w.each(ctx, list, func(obj client.Object) {
		a := artifact(Intent, obj)
		a.Request = types.UID(strings.TrimPrefix(a.Name, intentPrefix))
		w.Artifacts = append(w.Artifacts, a)
	}, client.HasLabels{intentLabel})
}

// artifact is what all of them have in common.
func artifact(kind Kind, obj client.Object) Artifact {
	a := Artifact{
		Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(),
		Created: obj.GetCreationTimestamp().Time, Deleted: deleted(obj),
	}
	origin := capturev1.Origin{}
	if text, ok := obj.GetAnnotations()[originAnnotation]; ok && json.Unmarshal([]byte(text), &origin) == nil {
		a.Request, a.What = origin.RequestUID, claim(origin.Claim)
	}
	for _, owner := range obj.GetOwnerReferences() {
		if owner.Kind != string(keeperKind) || !strings.HasPrefix(owner.APIVersion, capturev1.GroupVersion.Group+"/") {
			a.Adopted = true
			continue
		}
		a.Keepers = append(a.Keepers, owner.UID)
		if uid, ok := strings.CutPrefix(owner.Name, request.KeeperName("")); ok && a.Request == "" {
			a.Request = types.UID(uid)
		}
	}
	return a
}

func deleted(obj client.Object) *time.Time { return timeOf(obj.GetDeletionTimestamp()) }

func timeOf(t *metav1.Time) *time.Time {
	if t == nil {
		return nil
	}
	return &t.Time
}
