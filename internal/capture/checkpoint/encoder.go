package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Chunk is a chunk to be written, and how the checkpoint is to list it.
type Chunk struct {
	Object *capturev1.ManifestCheckpointContentChunk
	Ref    capturev1.ChunkRef
}

// Encoder makes chunks of objects. It holds one frame at a time.
type Encoder struct {
	request types.UID
	seal    *Seal // nil: chunks are not encrypted
	zip     *zstd.Encoder
	frame   bytes.Buffer // what is compressed so far
	pending int          // bytes given to zip that are not in frame yet
	raw     int          // bytes given to zip in this frame
	lines   int32        // objects in this frame
	next    int          // index of the next chunk
	total   int64        // bytes of all chunks so far
}

// Name is the name of the checkpoint of a request.
func Name(request types.UID) string { return string(request) }

// NewEncoder makes an encoder for the checkpoint of a request.
func NewEncoder(request types.UID, seal *Seal) (*Encoder, error) {
	e := &Encoder{request: request, seal: seal}
	var err error
	// One goroutine, the caller's: compression as a whole overlaps with reading. The fastest
	// level takes half the time of the next, and a tenth more room.
	e.zip, err = zstd.NewWriter(&e.frame, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	return e, nil
}

// Add takes an object as one JSON document, without a line break, and returns the chunks
// that are full because of it: mostly none.
func (e *Encoder) Add(document []byte) ([]Chunk, error) {
	if len(document)+1 > maxFrame {
		return nil, fmt.Errorf("add an object of %d bytes: %w", len(document), ErrTooLarge)
	}
	var full []Chunk
	fits, err := e.fits(len(document) + 1)
	if err != nil {
		return nil, err
	}
	if !fits {
		if full, err = e.End(); err != nil {
			return nil, err
		}
	}
	for _, part := range [][]byte{document, {'\n'}} {
		if _, err := e.zip.Write(part); err != nil {
			return nil, fmt.Errorf("compress: %w", err)
		}
	}
	e.lines++
	e.raw += len(document) + 1
	e.pending += len(document) + 1
	return full, nil
}

// slack is what a frame may grow by besides what is written: headers of blocks.
const slack = 1 << 10

// fits says that so many bytes more leave the frame within one chunk. What compression makes
// of them is not known before, so it counts on nothing; if that is too cautious it looks at
// what there is so far. A frame that is almost full is not worth a look.
func (e *Encoder) fits(more int) (bool, error) {
	const almost = MaxChunk - MaxChunk/8
	room := func() bool { return e.frame.Len()+e.pending+more+slack+sealed <= MaxChunk }
	switch {
	case e.raw == 0: // alone in its frame, which is cut if it must be
		return true, nil
	case e.raw+more > maxFrame:
		return false, nil
	case room():
		return true, nil
	}
	if err := e.zip.Flush(); err != nil {
		return false, fmt.Errorf("compress: %w", err)
	}
	e.pending = 0
	return e.frame.Len() < almost && room(), nil
}

// End ends the frame and returns what is left. The encoder can go on with another.
func (e *Encoder) End() ([]Chunk, error) {
	if e.raw == 0 {
		return nil, nil
	}
	if err := e.zip.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	var chunks []Chunk
	for rest := e.frame.Bytes(); len(rest) > 0; {
		n := min(len(rest), MaxChunk-sealed)
		c, err := e.chunk(rest[:n])
		if err != nil {
			return nil, err
		}
		rest, chunks = rest[n:], append(chunks, c)
	}
	chunks[len(chunks)-1].Ref.Objects = e.lines // of a frame that was cut, the last has them
	e.frame.Reset()
	e.zip.Reset(&e.frame)
	e.lines, e.raw, e.pending = 0, 0, 0
	return chunks, nil
}

func (e *Encoder) chunk(piece []byte) (Chunk, error) {
	index, stored := e.next, bytes.Clone(piece)
	if e.seal != nil {
		var err error
		if stored, err = encrypt(e.seal.key, piece, bound(e.request, index, e.seal.Encryption.KeyID), e.seal.random); err != nil {
			return Chunk{}, fmt.Errorf("encrypt chunk %d: %w", index, err)
		}
	}
	if e.total += int64(len(stored)); e.total > MaxBytes || index >= math.MaxInt16 {
		return Chunk{}, fmt.Errorf("add chunk %d: %w", index, ErrTooLarge)
	}
	e.next++
	digest := digestOf(stored)
	name := fmt.Sprintf("%s-%d-%s", e.request, index, digest)
	return Chunk{
		Object: &capturev1.ManifestCheckpointContentChunk{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       capturev1.ManifestCheckpointContentChunkSpec{Checkpoint: Name(e.request), Index: int32(index), Data: stored}, //nolint:gosec // small, see above
		},
		Ref: capturev1.ChunkRef{Name: name, Bytes: int32(len(stored)), SHA256: digest}, //nolint:gosec // at most MaxChunk
	}, nil
}

func digestOf(stored []byte) string {
	sum := sha256.Sum256(stored)
	return hex.EncodeToString(sum[:])
}
