package checkpoint

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

func keyRing(t *testing.T, active string, ids ...string) Ring {
	t.Helper()
	data := map[string][]byte{"active": []byte(active)}
	for _, id := range ids {
		data[id] = bytes.Repeat([]byte(id[len(id)-1:]), keySize)
	}
	ring, err := ParseRing(data)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// TestRewrap: after each of two rotations all keys but the active one can go, and the chunks are as they were.
func TestRewrap(t *testing.T) {
	seal, err := keyRing(t, "k1", "k1").NewSeal("r1", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder("r1", seal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Add([]byte(`{"kind":"Secret","metadata":{"name":"password"}}`)); err != nil {
		t.Fatal(err)
	}
	chunks, err := e.End()
	if err != nil {
		t.Fatal(err)
	}
	spec := &capturev1.ManifestCheckpointSpec{Origin: capturev1.Origin{RequestUID: "r1"}, Encryption: &seal.Encryption}
	for _, c := range chunks {
		spec.Chunks = append(spec.Chunks, c.Ref)
		spec.Objects += c.Ref.Objects
	}
	for _, rotation := range []struct{ from, to string }{{"k1", "k2"}, {"k2", "k3"}} {
		if _, err := keyRing(t, rotation.to, rotation.to).Rewrap(spec, rand.Reader); !errors.Is(err, ErrKeyMissing) {
			t.Errorf("without the old key: %v", err)
		}
		both := keyRing(t, rotation.to, rotation.from, rotation.to)
		if spec.Encryption, err = both.Rewrap(spec, rand.Reader); err != nil {
			t.Fatal(err)
		}
		if spec.Encryption.KeyID != rotation.to || spec.Encryption.BoundTo != "k1" {
			t.Errorf("%+v", spec.Encryption)
		}
		if again, err := both.Rewrap(spec, rand.Reader); again != nil || err != nil {
			t.Errorf("is rewrapped again: %+v, %v", again, err)
		}
		key, err := keyRing(t, rotation.to, rotation.to).Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := Decode(spec, key, chunks[0].Object)
		if err != nil || len(objects) != 1 || objects[0].GetName() != "password" {
			t.Errorf("%v, %v", objects, err)
		}
	}
	if none, err := keyRing(t, "k1", "k1").Rewrap(&capturev1.ManifestCheckpointSpec{}, rand.Reader); none != nil || err != nil {
		t.Errorf("what is not encrypted is rewrapped: %+v, %v", none, err)
	}
}
