// Package checkpoint turns objects into the chunks of a ManifestCheckpoint, and back.
//
// Objects are JSON documents, one per line. Lines are compressed in frames of zstd, each
// of which fits into one chunk; only an object that is too large for one is a frame that
// is cut into several. So every run of chunks that ends where a frame does can be decoded
// alone, and nobody needs to hold a whole checkpoint.
//
// If Secrets are among the objects, every chunk is encrypted with AES-256-GCM, under a key
// that this checkpoint alone has. That key is kept in the checkpoint, wrapped by one of the
// operator's keys: see Ring. What a chunk is bound to is the name of its checkpoint, which
// is the UID of the request, its place, and the id of the wrapping key. It cannot be the
// UID of the checkpoint: that one is written last, and has no UID before.
//
// The package is pure: who encrypts hands it the randomness.
package checkpoint

import "errors"

// What reading back may find. They wrap details; compare with errors.Is.
var (
	// ErrTampered says that something is not what was written: a digest, a seal or a place.
	ErrTampered = errors.New("not what was written")
	// ErrKeyMissing says that the key that wraps the key of the checkpoint is gone.
	ErrKeyMissing = errors.New("the key is gone")
	// ErrIncomplete says that there are fewer or more objects than the checkpoint lists.
	ErrIncomplete = errors.New("not all of it is there")
	// ErrTooLarge says that there is more than a checkpoint holds.
	ErrTooLarge = errors.New("too large for a checkpoint")
)

const (
	// MaxChunk is how many bytes a chunk holds at most. In JSON they are a third more, and
	// etcd takes 1.5 MiB.
	MaxChunk = 512 << 10
	// MaxBytes is how many bytes all chunks of a checkpoint hold at most.
	MaxBytes = 64 << 20
	// maxFrame is how large a frame is at most before it is compressed. It bounds what
	// decoding takes, whatever the chunks claim.
	maxFrame = 8 << 20
)
