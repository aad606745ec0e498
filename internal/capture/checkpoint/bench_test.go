package checkpoint

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

const request = "5d3c3e0a-0000-4000-8000-000000000001"

// dice is randomness that a test can repeat.
func dice(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func ringOf(t testing.TB, active string, ids ...string) Ring {
	t.Helper()
	data := map[string][]byte{activeKey: []byte(active)}
	for _, id := range ids {
		key := make([]byte, keySize)
		copy(key, id)
		data[id] = key
	}
	r, err := ParseRing(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sealOf(t testing.TB, r Ring) *Seal {
	t.Helper()
	s, err := r.NewSeal(request, dice(1))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// written is a checkpoint and its chunks.
type written struct {
	spec   *capturev1.ManifestCheckpointSpec
	chunks []*capturev1.ManifestCheckpointContentChunk
}

func write(t testing.TB, seal *Seal, objects []*unstructured.Unstructured) written {
	t.Helper()
	w := written{spec: &capturev1.ManifestCheckpointSpec{Origin: capturev1.Origin{RequestUID: request}}}
	if seal != nil {
		w.spec.Encryption = &seal.Encryption
	}
	e, err := NewEncoder(request, seal)
	if err != nil {
		t.Fatal(err)
	}
	take := func(chunks []Chunk, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			w.chunks = append(w.chunks, c.Object)
			w.spec.Chunks = append(w.spec.Chunks, c.Ref)
			w.spec.Objects += c.Ref.Objects
			w.spec.Bytes += int64(c.Ref.Bytes)
		}
	}
	for _, obj := range objects {
		document, err := json.Marshal(obj.Object)
		if err != nil {
			t.Fatal(err)
		}
		take(e.Add(document))
	}
	take(e.End())
	return w
}

// read decodes everything, run by run.
func (w written) read(key []byte) (objects []*unstructured.Unstructured, err error) {
	for first, refs := range Frames(w.spec) {
		some, err := Decode(w.spec, key, w.chunks[first:first+len(refs)]...)
		if err != nil {
			return nil, err
		}
		objects = append(objects, some...)
	}
	return objects, nil
}

func object(name string, data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data,
	}}
}

// noise is text that cannot be compressed well.
func noise(bytes int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
	r, text := rand.New(rand.NewPCG(uint64(bytes), 7)), make([]byte, bytes)
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}
