package checkpoint

import (
	"cmp"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// KeysSecret is the Secret in the operator's namespace that holds the wrapping keys.
const KeysSecret = "statecraft-capture-keys"

// activeKey is the entry of that Secret that names the key for new checkpoints. Every other
// entry is a key: its name is the id.
const activeKey = "active"

// keySize is that of AES-256.
const keySize = 32

// Ring is the operator's keys. A new one is added and made active; the old ones stay until
// no checkpoint is wrapped by them any more.
type Ring struct {
	active string
	keys   map[string][]byte
}

// ParseRing reads the data of the Secret.
func ParseRing(data map[string][]byte) (Ring, error) {
	r := Ring{active: string(data[activeKey]), keys: map[string][]byte{}}
	for id, key := range data {
		switch {
		case id == activeKey:
		case len(key) != keySize:
			return Ring{}, fmt.Errorf("key %q has %d bytes, not %d", id, len(key), keySize)
		default:
			r.keys[id] = key
		}
	}
	if r.keys[r.active] == nil {
		return Ring{}, fmt.Errorf("entry %q names no key of the Secret", activeKey)
	}
	return r, nil
}

// Seal is the key of one checkpoint, and how the checkpoint keeps it.
type Seal struct {
	Encryption capturev1.Encryption
	key        []byte
	random     io.Reader
}

// NewSeal makes a key for the checkpoint of a request and wraps it with the active one.
func (r Ring) NewSeal(request types.UID, random io.Reader) (*Seal, error) {
	s := &Seal{Encryption: capturev1.Encryption{KeyID: r.active}, key: make([]byte, keySize), random: random}
	if _, err := io.ReadFull(random, s.key); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	wrapped, err := encrypt(r.keys[r.active], s.key, wrapping(request, r.active), random)
	if err != nil {
		return nil, fmt.Errorf("wrap key: %w", err)
	}
	s.Encryption.WrappedKey = wrapped
	return s, nil
}

// Open returns the key that a checkpoint is encrypted with; nil if it is not encrypted.
func (r Ring) Open(spec *capturev1.ManifestCheckpointSpec) ([]byte, error) {
	if spec.Encryption == nil {
		return nil, nil
	}
	id := spec.Encryption.KeyID
	if r.keys[id] == nil {
		return nil, fmt.Errorf("unwrap with key %q: %w", id, ErrKeyMissing)
	}
	key, err := decrypt(r.keys[id], spec.Encryption.WrappedKey, wrapping(spec.Origin.RequestUID, id))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("unwrap with key %q: %w", id, ErrTampered)
	}
	return key, nil
}

// Rewrap wraps the key of a checkpoint with the active one; nil if it is already, or is not encrypted. The key itself stays, and
// so do the chunks.
func (r Ring) Rewrap(spec *capturev1.ManifestCheckpointSpec, random io.Reader) (*capturev1.Encryption, error) {
	if spec.Encryption == nil || spec.Encryption.KeyID == r.active {
		return nil, nil
	}
	key, err := r.Open(spec)
	if err != nil {
		return nil, err
	}
	wrapped, err := encrypt(r.keys[r.active], key, wrapping(spec.Origin.RequestUID, r.active), random)
	if err != nil {
		return nil, fmt.Errorf("wrap key: %w", err)
	}
	return &capturev1.Encryption{KeyID: r.active, WrappedKey: wrapped, BoundTo: boundTo(spec.Encryption)}, nil
}

// boundTo is the id of the key that chunks name.
func boundTo(e *capturev1.Encryption) string { return cmp.Or(e.BoundTo, e.KeyID) }
