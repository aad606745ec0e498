package act

import (
	"context"
	"sync"

	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Desk is what this process remembers of captures that it works on: what was read and is
// not written yet, and what work came to. After a crash the desk is empty, and work begins
// again.
type Desk struct {
	// Ahead reads the next page while the last is compressed. The simulation does without:
	// there one thing happens at a time.
	Ahead bool

	mu      sync.Mutex
	sheets  map[read.Key]*sheet
	results map[read.Key]manifestcapture.Result
	slots   chan struct{}
}

// captures is how many captures are held at a time; each holds what it has read, compressed,
// until it is written: at most what a checkpoint may hold.
const captures = 4

// NewDesk makes an empty desk.
func NewDesk(ahead bool) *Desk {
	return &Desk{
		Ahead: ahead, sheets: map[read.Key]*sheet{}, results: map[read.Key]manifestcapture.Result{},
		slots: make(chan struct{}, captures),
	}
}

// Result is what work came to, by the name of the task.
func (d *Desk) Result(key read.Key) manifestcapture.Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.results[key]
}

// Drop forgets all about a request.
func (d *Desk) Drop(key read.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(key)
	delete(d.results, key)
}

func (d *Desk) drop(key read.Key) {
	if s := d.sheets[key]; s != nil && s.holds {
		<-d.slots
		s.holds = false
	}
	delete(d.sheets, key)
}

// sheet is the one of a request at a moment, a new one if there is none.
func (d *Desk) sheet(key read.Key, fresh *sheet) *sheet {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sheets[key]; s != nil {
		if s.request.UID == fresh.request.UID && s.moment == fresh.moment {
			return s
		}
		d.drop(key)
	}
	d.sheets[key] = fresh
	return fresh
}

// close forgets a sheet that is not needed any more; what came of it stays.
func (d *Desk) close(key read.Key, s *sheet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sheets[key] == s {
		d.drop(key)
	}
}

// yield gives up the place of a sheet whose work has failed, if the desk is full: it may fail
// for as long as its request lives, and others wait. What was read is read again.
func (d *Desk) yield(key read.Key, s *sheet) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sheets[key] == s && len(d.slots) == cap(d.slots) {
		d.drop(key)
	}
}

// yielding is work on a sheet that yields when it fails.
func (d *Desk) yielding(key read.Key, s *sheet, job kube.Job) kube.Job {
	return func(ctx context.Context) (bool, error) {
		done, err := job(ctx)
		if err != nil {
			d.yield(key, s)
		}
		return done, err
	}
}

// hold notes that a sheet has a slot; if it was dropped meanwhile the slot goes back.
func (d *Desk) hold(key read.Key, s *sheet) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sheets[key] != s {
		<-d.slots
		return false
	}
	s.holds = true
	return true
}

func (d *Desk) publish(key read.Key, r manifestcapture.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.results[key] = r
}
