package act

import (
	"context"
	"fmt"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// frame is what one frame of a checkpoint holds: all that a job ever holds of a checkpoint at a time, besides outlines.
type frame struct {
	first   int // chunk
	objects map[manifestrestore.Key]*unstructured.Unstructured
}

// load reads the next frame for its outlines.
func (j *restoreJob) load(ctx context.Context) error {
	objects, chunks, err := j.decode(ctx, j.read)
	if err != nil {
		return err
	}
	if j.selection == nil {
		if j.selection, err = manifestrestore.NewSelection(j.request.Spec.Selector); err != nil {
			return &refused{capturev1.ReasonInvalidTarget, "The label selector of the request is not valid; correct it in another request."}
		}
	}
	for _, obj := range objects {
		if err := j.outline(obj); err != nil {
			return err
		}
	}
	j.found += len(objects)
	if j.read += chunks; j.read == len(j.spec.Chunks) {
		return j.loaded()
	}
	return nil
}

// outline notes an object, if the request selects it.
func (j *restoreJob) outline(obj *unstructured.Unstructured) error {
	item := manifestrestore.Item{Outline: manifestrestore.OutlineOf(obj, j.read)}
	if _, err := j.mapping(item); err != nil && !apimeta.IsNoMatchError(err) {
		return fmt.Errorf("map kind: %w", err) // a guess would be taken for what the request names, or not
	}
	group, resource := j.resource(item)
	if j.selection.Takes(capturev1.ManifestResource{Group: group, Resource: resource}, obj.GetLabels()) {
		j.outlines = append(j.outlines, item.Outline)
	}
	return nil
}

// loaded says whether what was read is what the checkpoint lists, and holds what the request selects.
func (j *restoreJob) loaded() error {
	absent := j.selection.Absent(j.request.Spec.Selector)
	switch {
	case j.found != int(j.spec.Objects):
		return &refused{capturev1.ReasonIncomplete, fmt.Sprintf("The chunks hold %d objects, but the checkpoint lists %d.", j.found, j.spec.Objects)}
	case len(absent) > 0:
		return &refused{capturev1.ReasonInvalidTarget, "The request selects resources of which nothing was captured: " + strings.Join(absent, ", ") + "; correct spec.selector in another request."}
	case len(j.outlines) == 0 && j.found > 0:
		return &refused{capturev1.ReasonInvalidTarget, fmt.Sprintf("The request selects none of the %d captured objects; correct spec.selector in another request.", j.found)}
	}
	return nil
}

// decode reads the frame that begins with a chunk. Chunks are never cached.
func (j *restoreJob) decode(ctx context.Context, at int) (objects []*unstructured.Unstructured, chunks int, err error) {
	for first, refs := range checkpoint.Frames(j.spec) {
		if first != at {
			continue
		}
		parts := make([]*capturev1.ManifestCheckpointContentChunk, len(refs))
		for i, ref := range refs {
			parts[i] = &capturev1.ManifestCheckpointContentChunk{}
			switch err := j.Live.Get(ctx, read.Key{Name: ref.Name}, parts[i]); {
			case read.SaysGone(err, ref.Name):
				return nil, 0, &refused{capturev1.ReasonIncomplete, "ManifestCheckpointContentChunk " + ref.Name + " is gone."}
			case err != nil:
				return nil, 0, fmt.Errorf("read chunk %s: %w", ref.Name, err)
			}
		}
		objects, err = checkpoint.Decode(j.spec, j.key, parts...)
		return objects, len(refs), spoiled(err)
	}
	return nil, 0, &refused{capturev1.ReasonIncomplete, "A part of the checkpoint is missing."}
}

// fill reads the object of an item. Objects of one kind are restored one after the other, as they were captured, so a
// frame is seldom read more often than twice.
func (j *restoreJob) fill(ctx context.Context, item manifestrestore.Item) (manifestrestore.Item, error) {
	if j.frame.objects == nil || j.frame.first != item.Frame {
		objects, _, err := j.decode(ctx, item.Frame)
		if err != nil {
			return item, err
		}
		j.frame = frame{item.Frame, map[manifestrestore.Key]*unstructured.Unstructured{}}
		for _, obj := range objects {
			if key := manifestrestore.KeyOf(obj); j.frame.objects[key] == nil { // of two only the first counts
				j.frame.objects[key] = obj
			}
		}
	}
	return item.Filled(j.frame.objects[item.Key], j.task()), nil
}

func (j *restoreJob) task() manifestrestore.Task {
	return manifestrestore.Task{By: j.request.UID, Into: j.request.Namespace, From: j.spec.Origin.Namespace, Volumes: j.spec.Volumes,
		Classes: j.request.Spec.StorageClasses}
}
