package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// anyObjects are small and large ones, so that frames are shared, full and cut.
func anyObjects() *rapid.Generator[[]*unstructured.Unstructured] {
	value := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "text") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Int64().Draw(t, "number") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "truth") }),
		rapid.Custom(func(t *rapid.T) any { return noise(rapid.IntRange(0, 900_000).Draw(t, "noise")) }),
		rapid.Custom(func(t *rapid.T) any {
			return strings.Repeat("a", rapid.IntRange(0, 1_500_000).Draw(t, "repeat"))
		}),
	)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *unstructured.Unstructured {
		return object(rapid.String().Draw(t, "name"), rapid.MapOfN(rapid.String(), value, 0, 4).Draw(t, "data"))
	}), 0, 12)
}

func TestWhatGoesInComesOut(t *testing.T) {
	seal := sealOf(t, ringOf(t, "k1", "k1"))
	rapid.Check(t, func(t2 *rapid.T) {
		objects := anyObjects().Draw(t2, "objects")
		var use *Seal
		var key []byte
		if rapid.Bool().Draw(t2, "encrypted") {
			use, key = seal, seal.key
		}
		w := write(t, use, objects)
		got, err := w.read(key)
		if err != nil {
			t2.Fatal(err)
		}
		if diff := cmp.Diff(objects, got); diff != "" && len(objects)+len(got) > 0 {
			t2.Fatal(diff)
		}
		for _, c := range w.chunks {
			if len(c.Spec.Data) > MaxChunk {
				t2.Fatalf("a chunk has %d bytes", len(c.Spec.Data))
			}
		}
	})
}

// TestAFlippedBitIsFound flips bits of the stored bytes, and of what the checkpoint says of
// them: even who writes a fitting digest over it cannot make an encrypted chunk another one.
func TestAFlippedBitIsFound(t *testing.T) {
	ring := ringOf(t, "k1", "k1")
	seal := sealOf(t, ring)
	w := write(t, seal, []*unstructured.Unstructured{object("a", map[string]any{"k": noise(5000)}), object("b", nil)})
	rapid.Check(t, func(t2 *rapid.T) {
		chunk, spec := w.chunks[0].DeepCopy(), w.spec.DeepCopy()
		bit := rapid.IntRange(0, len(chunk.Spec.Data)*8-1).Draw(t2, "bit")
		chunk.Spec.Data[bit/8] ^= 1 << (bit % 8)
		if rapid.Bool().Draw(t2, "digest, too") {
			spec.Chunks[0].SHA256 = digestOf(chunk.Spec.Data)
		}
		if _, err := Decode(spec, seal.key, chunk); !errors.Is(err, ErrTampered) {
			t2.Fatalf("a flipped bit is not found: %v", err)
		}
	})
}

// TestAnotherChunkOfTheSameSizeIsFound: bytes that make sense, but are not those that were written.
func TestAnotherChunkOfTheSameSizeIsFound(t *testing.T) {
	w := write(t, nil, []*unstructured.Unstructured{object("a", nil)})
	theirs := write(t, nil, []*unstructured.Unstructured{object("b", nil)})
	chunk := w.chunks[0].DeepCopy()
	if chunk.Spec.Data = theirs.chunks[0].Spec.Data; len(chunk.Spec.Data) != len(w.chunks[0].Spec.Data) {
		t.Fatal("they differ in size")
	}
	if _, err := Decode(w.spec, nil, chunk); !errors.Is(err, ErrTampered) {
		t.Errorf("another chunk is taken for it: %v", err)
	}
}

func TestChunksStayInTheirPlace(t *testing.T) {
	seal := sealOf(t, ringOf(t, "k1", "k1"))
	objects := []*unstructured.Unstructured{object("a", map[string]any{"k": noise(500_000)}), object("b", map[string]any{"k": noise(500_001)})}
	w := write(t, seal, objects)
	if len(w.chunks) != 2 {
		t.Fatalf("%d chunks, want 2", len(w.chunks))
	}
	for what, swap := range map[string]func(*capturev1.ManifestCheckpointSpec, *capturev1.ManifestCheckpointContentChunk){
		"another place": func(_ *capturev1.ManifestCheckpointSpec, c *capturev1.ManifestCheckpointContentChunk) {
			c.Spec.Index = 1
		},
		"no place": func(_ *capturev1.ManifestCheckpointSpec, c *capturev1.ManifestCheckpointContentChunk) {
			c.Spec.Index = 2
		},
		"another name": func(_ *capturev1.ManifestCheckpointSpec, c *capturev1.ManifestCheckpointContentChunk) {
			c.Name = w.chunks[1].Name
		},
		"another checkpoint": func(_ *capturev1.ManifestCheckpointSpec, c *capturev1.ManifestCheckpointContentChunk) {
			c.Spec.Checkpoint = "other"
		},
		"a list in another order": func(s *capturev1.ManifestCheckpointSpec, c *capturev1.ManifestCheckpointContentChunk) {
			slices.Reverse(s.Chunks)
			c.Spec.Index = 1
		},
		"the checkpoint of another request": func(s *capturev1.ManifestCheckpointSpec, c *capturev1.ManifestCheckpointContentChunk) {
			s.Origin.RequestUID, c.Spec.Checkpoint = "other", "other"
		},
		"another key id": func(s *capturev1.ManifestCheckpointSpec, _ *capturev1.ManifestCheckpointContentChunk) {
			s.Encryption.KeyID = "k2"
		},
	} {
		spec, chunk := w.spec.DeepCopy(), w.chunks[0].DeepCopy()
		swap(spec, chunk)
		if _, err := Decode(spec, seal.key, chunk); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestMissingObjectsAreFound(t *testing.T) {
	w := write(t, nil, []*unstructured.Unstructured{object("a", nil), object("b", nil)})
	for _, count := range []int32{1, 3} {
		spec := w.spec.DeepCopy()
		spec.Chunks[0].Objects = count
		if _, err := Decode(spec, nil, w.chunks[0]); !errors.Is(err, ErrIncomplete) {
			t.Errorf("%d listed of 2: %v", count, err)
		}
	}
}

func TestAnObjectThatNoChunkHoldsIsCut(t *testing.T) {
	objects := []*unstructured.Unstructured{object("small", nil), object("large", map[string]any{"k": noise(2 << 20)}), object("last", nil)}
	w := write(t, sealOf(t, ringOf(t, "k1", "k1")), objects)
	var runs []int
	for _, refs := range Frames(w.spec) {
		runs = append(runs, len(refs))
	}
	if len(runs) != 3 || runs[0] != 1 || runs[1] < 4 || runs[2] != 1 {
		t.Errorf("runs of %v chunks, want one, several, one", runs)
	}
}

func TestFramesAreFull(t *testing.T) {
	var objects []*unstructured.Unstructured
	for i := range 6000 {
		objects = append(objects, object(fmt.Sprint(i), map[string]any{"k": noise(500 + i%7)}))
	}
	w := write(t, nil, objects)
	for _, ref := range w.spec.Chunks[:len(w.spec.Chunks)-1] {
		if ref.Bytes < MaxChunk*3/4 {
			t.Errorf("a chunk holds only %d bytes", ref.Bytes)
		}
	}
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	e, err := NewEncoder(request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Add([]byte(strings.Repeat("a", maxFrame))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an object larger than a frame: %v", err)
	}
	document := []byte(noise(900_000))
	for range MaxBytes/600_000 + 1 {
		if _, err = e.Add(document); err != nil {
			break
		}
		if _, err = e.End(); err != nil { // the same text in one frame would cost nothing
			break
		}
	}
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than a checkpoint holds: %v", err)
	}
}

func TestKeysAreRotatedAndLost(t *testing.T) {
	w := write(t, sealOf(t, ringOf(t, "k1", "k1")), []*unstructured.Unstructured{object("a", nil)})
	for what, c := range map[string]struct {
		ring Ring
		want error
	}{
		"another key is active": {ring: ringOf(t, "k2", "k1", "k2")},
		"the key is gone":       {ring: ringOf(t, "k2", "k2"), want: ErrKeyMissing},
		"another key of its id": {ring: Ring{active: "k1", keys: map[string][]byte{"k1": make([]byte, keySize)}}, want: ErrTampered},
	} {
		key, err := c.ring.Open(w.spec)
		if err == nil {
			_, err = w.read(key)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := w.read(nil); !errors.Is(err, ErrKeyMissing) {
		t.Errorf("without a key: %v", err)
	}
	if key, err := (Ring{}).Open(&capturev1.ManifestCheckpointSpec{}); key != nil || err != nil {
		t.Errorf("not encrypted: %v", err)
	}
}

func TestRingsThatMakeNoSense(t *testing.T) {
	key := make([]byte, keySize)
	for what, data := range map[string]map[string][]byte{
		"nothing":             nil,
		"no active key":       {"k1": key},
		"an active key, gone": {"active": []byte("k2"), "k1": key},
		"active is itself":    {"active": []byte("active")},
		"a short key":         {"active": []byte("k1"), "k1": key[1:]},
	} {
		if _, err := ParseRing(data); err == nil {
			t.Errorf("%s: is taken for a ring", what)
		}
	}
	if _, err := ringOf(t, "k1", "k1").NewSeal(request, io.LimitReader(dice(1), 40)); err == nil {
		t.Error("a seal without enough randomness")
	}
}

func TestNoTextOfObjectsInErrors(t *testing.T) {
	stored, err := encodeRaw("canary")
	if err != nil {
		t.Fatal(err)
	}
	spec, chunk := listing(stored)
	if _, err := Decode(spec, nil, chunk); !errors.Is(err, ErrTampered) || strings.Contains(err.Error(), "canary") {
		t.Errorf("error %v", err)
	}
}
