package bulk

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	codec "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// Captured reads the checkpoint of a capture and all it holds, as a restore does.
func Captured(ctx context.Context, c client.Client, r *capturev1.ManifestCaptureRequest) (*capturev1.ManifestCheckpoint, []*unstructured.Unstructured, error) {
	point := &capturev1.ManifestCheckpoint{}
	if err := c.Get(ctx, client.ObjectKey{Name: r.Status.CheckpointRef.Name}, point); err != nil {
		return nil, nil, err
	}
	key, err := keyOf(ctx, c, point)
	if err != nil {
		return nil, nil, err
	}
	var all []*unstructured.Unstructured
	for _, refs := range codec.Frames(&point.Spec) {
		var chunks []*capturev1.ManifestCheckpointContentChunk
		for _, ref := range refs {
			chunk := &capturev1.ManifestCheckpointContentChunk{}
			if err := c.Get(ctx, client.ObjectKey{Name: ref.Name}, chunk); err != nil {
				return nil, nil, err
			}
			chunks = append(chunks, chunk)
		}
		objects, err := codec.Decode(&point.Spec, key, chunks...)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, objects...)
	}
	return point, all, nil
}

// keyOf is the key of a checkpoint; nil if it is not encrypted.
func keyOf(ctx context.Context, c client.Client, point *capturev1.ManifestCheckpoint) ([]byte, error) {
	if point.Spec.Encryption == nil {
		return nil, nil
	}
	var secret corev1.Secret
	if err := c.Get(ctx, client.ObjectKey{Namespace: harness.SystemNamespace, Name: codec.KeysSecret}, &secret); err != nil {
		return nil, err
	}
	ring, err := codec.ParseRing(secret.Data)
	if err != nil {
		return nil, err
	}
	return ring.Open(&point.Spec)
}
