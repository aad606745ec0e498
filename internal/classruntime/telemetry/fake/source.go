package fake

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// State is what a source does.
type State string

// What it may do.
const (
	Answers State = "answers"
	Frozen  State = "frozen" // it neither answers nor scrapes
	Down    State = "down"   // likewise, and at once
	Fails   State = "fails"  // it answers with an error of its own, and scrapes
)

// Source is a fake of a source. Its methods may be called at once.
type Source struct {
	now              func() time.Time
	window, interval time.Duration

	mu     sync.Mutex
	state  State
	pods   map[string]*Process
	series map[string]*series
	due    time.Time // the next scrape
}

// New makes a source that answers, and has scraped nothing yet.
func New(now func() time.Time, window, interval time.Duration) *Source {
	return &Source{
		now: now, window: window, interval: interval, state: Answers,
		pods: map[string]*Process{}, series: map[string]*series{}, due: now(),
	}
}

// Serve starts a pod, or changes what happens to it.
func (s *Source) Serve(name string, pod Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	if running, is := s.pods[name]; is && running.pod.Key == pod.Key {
		running.Become(pod, s.now())
		return
	}
	s.remove(name)
	s.pods[name] = NewProcess(pod, s.now())
}

// Restart starts a pod anew under its name: it has counted nothing.
func (s *Source) Restart(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	if running, is := s.pods[name]; is {
		s.pods[name] = NewProcess(running.pod, s.now())
	}
}

// Remove ends a pod: it is scraped no more.
func (s *Source) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	s.remove(name)
}

func (s *Source) remove(name string) {
	delete(s.pods, name)
	s.silence(name)
}

// Set changes what the source does.
func (s *Source) Set(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	s.state = state
}

// Forget loses all samples.
func (s *Source) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	clear(s.series)
}

// catchUp makes the scrapes that were due.
func (s *Source) catchUp() {
	for ; !s.due.After(s.now()); s.due = s.due.Add(s.interval) {
		if s.state == Frozen || s.state == Down {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.pods)) {
			s.scrape(name, s.pods[name])
		}
	}
}

// scrape adds the samples of one pod.
func (s *Source) scrape(name string, p *Process) {
	up := 0.0
	if p.pod.Hangs {
		s.silence(name)
	} else {
		up = 1
		for _, one := range p.samples(s.due) {
			labels := labelled(one.labels, name, p.pod.Key)
			if one.at.IsZero() {
				s.add(one.name, labels, point{s.due, one.value})
			} else {
				s.add(one.name, labels, point{one.at, one.value}).stamped = true
			}
		}
	}
	for port := range max(1, p.pod.Ports) {
		s.add("up", labelled(map[string]string{"port": strconv.Itoa(port)}, name, p.pod.Key), point{s.due, up})
	}
}

// add keeps a sample. One of a time that is known already is none.
func (s *Source) add(name string, labels map[string]string, p point) *series {
	id := fmt.Sprint(name, labels)
	one := s.series[id]
	if one == nil {
		one = &series{name: name, labels: labels}
		s.series[id] = one
	}
	one.stale = false
	if n := len(one.points); n > 0 && !p.at.After(one.points[n-1].at) {
		return one
	}
	one.points = append(slices.DeleteFunc(one.points, func(old point) bool { return s.due.Sub(old.at) > kept }), p)
	return one
}

// silence marks the series of a pod: it says nothing of them any more. Those that say themselves of when they are do not count as ended.
func (s *Source) silence(pod string) {
	for _, one := range s.series {
		if one.labels[load.PodLabel] == pod && !one.stamped {
			one.stale = true
		}
	}
}
