package act

import (
	"context"
	"sync"

	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// CaptureBuffer is what this process remembers of captures that it works on: what was read and is
// not written yet. After a crash it is empty, and work begins again.
type CaptureBuffer struct {
	// Ahead reads the next page while the last is compressed. The simulation does without:
	// there one thing happens at a time.
	Ahead bool

	mu      sync.Mutex
	buffers map[read.Key]*buffer
	slots   chan struct{}
}

// captures is how many captures are held at a time; each holds what it has read, compressed,
// until it is written: at most what a checkpoint may hold.
const captures = 4

// NewCaptureBuffer makes an empty one.
func NewCaptureBuffer(ahead bool) *CaptureBuffer {
	return &CaptureBuffer{Ahead: ahead, buffers: map[read.Key]*buffer{}, slots: make(chan struct{}, captures)}
}

// Drop forgets all about a request.
func (d *CaptureBuffer) Drop(key read.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(key)
}

func (d *CaptureBuffer) drop(key read.Key) {
	if s := d.buffers[key]; s != nil && s.holds {
		<-d.slots
		s.holds = false
	}
	delete(d.buffers, key)
}

// buffer is the one of a request at a moment, a new one if there is none.
func (d *CaptureBuffer) buffer(key read.Key, fresh *buffer) *buffer {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.buffers[key]; s != nil {
		if s.request.UID == fresh.request.UID && s.moment == fresh.moment {
			return s
		}
		d.drop(key)
	}
	d.buffers[key] = fresh
	return fresh
}

// weigh notes how many bytes a buffer is about to write, and counts those of all others: they are in no checkpoint yet.
func (d *CaptureBuffer) weigh(s *buffer) (others manifestcapture.Held) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.weight = 0
	for _, c := range s.chunks {
		s.weight += int64(c.Ref.Bytes)
	}
	for key, other := range d.buffers {
		if other == s {
			continue
		}
		others.All += other.weight
		if key.Namespace == s.request.Namespace {
			others.Namespace += other.weight
		}
	}
	return others
}

// close forgets a buffer that is not needed any more.
func (d *CaptureBuffer) close(key read.Key, s *buffer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.buffers[key] == s {
		d.drop(key)
	}
}

// release gives up the slot of a buffer whose work has failed, if all slots are taken: it may fail
// for as long as its request lives, and others wait. What was read is read again.
func (d *CaptureBuffer) release(key read.Key, s *buffer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.buffers[key] == s && len(d.slots) == cap(d.slots) {
		d.drop(key)
	}
}

// releaseOnError is work on a buffer that gives up its slot when it fails.
func (d *CaptureBuffer) releaseOnError(key read.Key, s *buffer, job captureJob) captureJob {
	return func(ctx context.Context) (result manifestcapture.Result, done bool, err error) {
		result, done, err = job(ctx)
		if err != nil {
			d.release(key, s)
		}
		return result, done, err
	}
}

// hold notes that a buffer has a slot; if it was dropped meanwhile the slot goes back.
func (d *CaptureBuffer) hold(key read.Key, s *buffer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.buffers[key] != s {
		<-d.slots
		return false
	}
	s.holds = true
	return true
}
