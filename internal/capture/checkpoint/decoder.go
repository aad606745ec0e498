package checkpoint

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Frames yields the runs of chunks that are decoded together: mostly one chunk each. The
// index is that of the first chunk of the run.
func Frames(spec *capturev1.ManifestCheckpointSpec) iter.Seq2[int, []capturev1.ChunkRef] {
	return func(yield func(int, []capturev1.ChunkRef) bool) {
		first := 0
		for i, ref := range spec.Chunks {
			if ref.Objects == 0 && i < len(spec.Chunks)-1 {
				continue
			}
			if !yield(first, spec.Chunks[first:i+1]) {
				return
			}
			first = i + 1
		}
	}
}

// Decode returns the objects of one run of chunks, as Frames gives it. The key is what
// Ring.Open returned. Every chunk must be just what the checkpoint lists in its place.
func Decode(spec *capturev1.ManifestCheckpointSpec, key []byte, chunks ...*capturev1.ManifestCheckpointContentChunk) ([]*unstructured.Unstructured, error) {
	var frame []byte
	var want int32
	for _, c := range chunks {
		piece, ref, err := open(spec, key, c)
		if err != nil {
			return nil, fmt.Errorf("open chunk %s: %w", c.Name, err)
		}
		frame = append(frame, piece...)
		want += ref.Objects
	}
	lines, err := unzip(frame)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for len(lines) > 0 {
		line, rest, whole := bytes.Cut(lines, []byte{'\n'})
		if !whole {
			return nil, fmt.Errorf("read object %d: %w", len(objects), ErrIncomplete)
		}
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(line); err != nil {
			return nil, fmt.Errorf("read object %d: %w", len(objects), ErrTampered) // without its text: it may be secret
		}
		objects, lines = append(objects, obj), rest
	}
	if len(objects) != int(want) {
		return nil, fmt.Errorf("read %d objects of %d: %w", len(objects), want, ErrIncomplete)
	}
	return objects, nil
}

// open checks that a chunk is the one that the checkpoint lists in its place, and decrypts it.
func open(spec *capturev1.ManifestCheckpointSpec, key []byte, c *capturev1.ManifestCheckpointContentChunk) ([]byte, capturev1.ChunkRef, error) {
	index := int(c.Spec.Index)
	if index < 0 || index >= len(spec.Chunks) {
		return nil, capturev1.ChunkRef{}, fmt.Errorf("find place %d: %w", index, ErrTampered)
	}
	ref, data := spec.Chunks[index], c.Spec.Data
	switch {
	case ref.Name != c.Name, c.Spec.Checkpoint != Name(spec.Origin.RequestUID):
		return nil, ref, fmt.Errorf("compare names: %w", ErrTampered)
	case len(data) != int(ref.Bytes), digestOf(data) != ref.SHA256:
		return nil, ref, fmt.Errorf("compare digests: %w", ErrTampered)
	case spec.Encryption == nil:
		return data, ref, nil
	case key == nil:
		return nil, ref, fmt.Errorf("decrypt: %w", ErrKeyMissing)
	}
	plain, err := decrypt(key, data, bound(spec.Origin.RequestUID, index, boundTo(spec.Encryption)))
	if err != nil {
		return nil, ref, fmt.Errorf("decrypt: %w", ErrTampered)
	}
	return plain, ref, nil
}

// unzip refuses what would become larger than any frame that we make.
func unzip(frame []byte) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	defer z.Close()
	lines, err := z.DecodeAll(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress (%w): %w", err, ErrTampered)
	}
	return lines, nil
}
