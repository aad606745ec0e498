package checkpoint

import (
	"errors"
	"testing"

	"github.com/klauspost/compress/zstd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// encodeRaw compresses one line, whatever it holds.
func encodeRaw(line string) ([]byte, error) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	return z.EncodeAll([]byte(line+"\n"), nil), z.Close()
}

// listing is a checkpoint that lists these bytes as they are.
func listing(stored []byte) (*capturev1.ManifestCheckpointSpec, *capturev1.ManifestCheckpointContentChunk) {
	chunk := &capturev1.ManifestCheckpointContentChunk{
		ObjectMeta: metav1.ObjectMeta{Name: "chunk"},
		Spec:       capturev1.ManifestCheckpointContentChunkSpec{Checkpoint: request, Data: stored},
	}
	return &capturev1.ManifestCheckpointSpec{
		Origin: capturev1.Origin{RequestUID: request},
		Chunks: []capturev1.ChunkRef{{Name: "chunk", Objects: 1, Bytes: int32(len(stored)), SHA256: digestOf(stored)}},
	}, chunk
}

// FuzzDecode shows bytes that somebody made up, with a digest that fits: it takes them for
// objects or refuses them, and neither ends the process nor eats all memory.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{`{"apiVersion":"v1","kind":"ConfigMap"}`, `{}`, `[]`, `{"kind":"List","items":[{}]}`, ``} {
		if stored, err := encodeRaw(line); err == nil {
			f.Add(stored, false)
		}
	}
	f.Add(write(f, sealOf(f, ringOf(f, "k1", "k1")), []*unstructured.Unstructured{object("a", nil)}).chunks[0].Spec.Data, true)
	key := make([]byte, keySize)
	f.Fuzz(func(t *testing.T, stored []byte, encrypted bool) {
		spec, chunk := listing(stored)
		if encrypted {
			spec.Encryption = &capturev1.Encryption{KeyID: "k1"}
		}
		objects, err := Decode(spec, key, chunk)
		switch {
		case err == nil && len(objects) != 1:
			t.Errorf("%d objects of 1", len(objects))
		case err != nil && !errors.Is(err, ErrTampered) && !errors.Is(err, ErrIncomplete):
			t.Errorf("an error of no class: %v", err)
		}
		if _, err := (Ring{}).Open(spec); encrypted && !errors.Is(err, ErrKeyMissing) {
			t.Errorf("an empty ring opens it: %v", err)
		}
	})
}
