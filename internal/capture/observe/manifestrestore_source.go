package observe

import (
	"cmp"
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// source finds the checkpoint, once: from then on its UID is in the status. What a status says before that was not
// written by the manager.
func (o ManifestRestore) source(ctx context.Context, r *capturev1.ManifestRestoreRequest) (manifestrestore.Source, error) {
	mcr, named := r.Spec.Source.ManifestCaptureRequest, r.Spec.Source.Checkpoint
	switch {
	case r.Status.CheckpointRef != nil && !manifestrestore.Checks(r.Status.Phase):
		return manifestrestore.Source{Sight: manifestrestore.Found, Checkpoint: r.Status.CheckpointRef}, nil
	case r.Namespace == o.System:
		return seen(manifestrestore.Privileged), nil
	case mcr != nil:
		return o.captured(ctx, read.Key{Namespace: cmp.Or(mcr.Namespace, r.Namespace), Name: mcr.Name}, mcr.UID)
	case named != nil:
		_, source, err := o.checkpoint(ctx, named.Name)
		if err == nil && named.UID != "" && source.Checkpoint != nil && source.Checkpoint.UID != named.UID {
			return seen(manifestrestore.Absent), nil
		}
		return source, err
	}
	return manifestrestore.Source{}, nil
}

func seen(s manifestrestore.SourceSight) manifestrestore.Source {
	return manifestrestore.Source{Sight: s}
}

// captured finds the checkpoint of a capture. Its status names it; what counts is that the
// checkpoint names the capture and its namespace, by UID.
func (o ManifestRestore) captured(ctx context.Context, key read.Key, uid types.UID) (manifestrestore.Source, error) {
	var mcr capturev1.ManifestCaptureRequest
	switch err := o.Live.Get(ctx, key, &mcr); {
	case read.SaysGone(err, key.Name), err == nil && uid != "" && mcr.UID != uid:
		return seen(manifestrestore.Absent), nil
	case err != nil:
		return manifestrestore.Source{}, fmt.Errorf("read capture %s: %w", key, err)
	}
	switch ready := apimeta.FindStatusCondition(mcr.Status.Conditions, fsm.Ready); {
	case ready == nil:
		return seen(manifestrestore.Unfinished), nil
	case ready.Status != metav1.ConditionTrue, mcr.Status.CheckpointRef == nil:
		return seen(manifestrestore.Unusable), nil
	}
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err := o.Live.Get(ctx, read.Key{Name: key.Namespace}, namespace); err != nil {
		return manifestrestore.Source{}, fmt.Errorf("read namespace %s: %w", key.Namespace, err)
	}
	origin, source, err := o.checkpoint(ctx, mcr.Status.CheckpointRef.Name)
	if err != nil || source.Sight != manifestrestore.Found {
		return source, err
	}
	if origin.RequestUID != mcr.UID || origin.NamespaceUID != namespace.UID {
		return seen(manifestrestore.Foreign), nil
	}
	return source, nil
}

func (o ManifestRestore) checkpoint(ctx context.Context, name string) (capturev1.Origin, manifestrestore.Source, error) {
	var c capturev1.ManifestCheckpoint
	switch err := o.Live.Get(ctx, read.Key{Name: name}, &c); {
	case read.SaysGone(err, name):
		return capturev1.Origin{}, seen(manifestrestore.Absent), nil
	case err != nil:
		return capturev1.Origin{}, manifestrestore.Source{}, fmt.Errorf("read checkpoint %s: %w", name, err)
	}
	ref := &capturev1.ArtifactRef{APIVersion: capturev1.GroupVersion.String(), Kind: "ManifestCheckpoint", Name: c.Name, UID: c.UID}
	return c.Spec.Origin, manifestrestore.Source{Sight: manifestrestore.Found, Checkpoint: ref}, nil
}
